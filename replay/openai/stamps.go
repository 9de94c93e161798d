package openai

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"reprise/replay"
)

// Which stamps a run takes of what arrives.
const (
	StampsAuto   = "auto"   // the kernel's, where the system gives them
	StampsKernel = "kernel" // the kernel's, or New fails
	StampsUser   = "user"   // when the read returned
)

// stamps is the clock of a client's connections: monotonic ns since its base.
// It maps the kernel's receive stamps, which are of the wall clock, onto it: each read takes both
// clocks at once, so that a step or a slew of the wall clock matters only
// between the arrival of some bytes and their read.
type stamps struct {
	base    time.Time
	kernel  bool      // take the kernel's stamps
	release func()    // ends what keeps the kernel stamping
	buffers sync.Pool // *[]byte, one for a read that brings bytes
	by      [2]atomic.Int64
	delays  replay.Spans
}

// readBuffer is how much one read takes.
const readBuffer = 16 << 10

func newStamps() *stamps {
	s := &stamps{base: time.Now(), release: func() {}}
	s.buffers.New = func() any { b := make([]byte, readBuffer); return &b }
	return s
}

// ask settles which stamps to take.
func (s *stamps) ask(which string) error {
	if which != StampsAuto && which != StampsKernel && which != StampsUser {
		return fmt.Errorf("stamps is %q, want %s, %s or %s", which, StampsAuto, StampsKernel, StampsUser)
	}
	release, err := holdStamps()
	if err != nil {
		if which == StampsKernel {
			return fmt.Errorf("%w: leave --stamps at %s", err, StampsAuto)
		}
		return nil
	}
	s.release, s.kernel = sync.OnceFunc(release), which != StampsUser
	return nil
}

func (s *stamps) now() int64 { return int64(time.Since(s.base)) }

// Where the stamps of reads came from.
const (
	byUser = iota
	byKernel
)

// read stamps bytes that have just been read. kernel is the kernel's stamp of
// the last segment among them in Unix ns, 0 where there is none. No stamp is
// at or before floor: bytes do not come before those ahead of them.
func (s *stamps) read(kernel, floor int64) int64 {
	now := time.Now()
	user := int64(now.Sub(s.base))
	delay := now.UnixNano() - kernel
	if kernel == 0 || delay < 0 {
		s.by[byUser].Add(1)
		return user
	}
	at := min(max(user-delay, floor+1), user)
	s.delays.Add(user - at)
	if !s.kernel {
		s.by[byUser].Add(1)
		return user
	}
	s.by[byKernel].Add(1)
	return at
}

// used says which stamps the reads so far had.
func (s *stamps) used() string {
	switch user, kernel := s.by[byUser].Load(), s.by[byKernel].Load(); {
	case kernel == 0 && user == 0 && s.kernel, kernel > 0 && user == 0:
		return StampsKernel
	case kernel > 0:
		return StampsKernel + " and " + StampsUser
	}
	return StampsUser
}

// Delays counts how long what was read had lain in the kernel, one a read. The
// kernel gives the stamp of the last segment of a read alone, so it is the
// shortest delay of what the read brought: a client that stalls for longer than
// the events are apart looks better here than it is. Events that share a read
// and the heartbeat show that (replay.Signs).
type Delays = replay.SpanCount
