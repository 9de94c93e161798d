package openai

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
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
	delays  delays
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
	s.delays.add(user - at)
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

// delays is a histogram of how long bytes lay in the kernel before they were
// read, ns. Many goroutines add to it without a lock. A bucket is at most 1/16 of
// its value wide.
type delays struct{ counts [64 * delaySteps]atomic.Int64 }

const delaySteps = 16 // buckets in a doubling

func (d *delays) add(ns int64) { d.counts[delayBucket(uint64(max(ns, 0)))].Add(1) }

func delayBucket(v uint64) int {
	if v < delaySteps {
		return int(v)
	}
	shift := bits.Len64(v) - 5 // leaves 16 to 31
	return (shift+1)*delaySteps + int(v>>shift) - delaySteps
}

// delayUpper is the largest value of a bucket.
func delayUpper(i int) int64 {
	if i < delaySteps {
		return int64(i)
	}
	shift := i/delaySteps - 1
	return int64(i%delaySteps+delaySteps+1)<<shift - 1
}

// Delays is a count of delays between the kernel's receipt of bytes and their
// read by this process.
type Delays struct{ counts []int64 }

// snapshot returns the delays so far.
func (d *delays) snapshot() Delays {
	out := Delays{make([]int64, len(d.counts))}
	for i := range d.counts {
		out.counts[i] = d.counts[i].Load()
	}
	return out
}

// Since returns the delays that came after an earlier snapshot.
func (d Delays) Since(before Delays) Delays {
	out := Delays{append([]int64(nil), d.counts...)}
	for i := range before.counts {
		out.counts[i] -= before.counts[i]
	}
	return out
}

// N returns how many there are.
func (d Delays) N() (n int64) {
	for _, c := range d.counts {
		n += c
	}
	return n
}

// Quantile returns the p-quantile in ns, an upper bound at most 1/16 above the
// truth; -1 when there are none.
func (d Delays) Quantile(p float64) int64 {
	n, seen := d.N(), int64(0)
	if n == 0 {
		return -1
	}
	need, last := int64(p*float64(n)), int64(0)
	for i, c := range d.counts {
		if c == 0 {
			continue
		}
		last = delayUpper(i)
		if seen += c; seen > need {
			break
		}
	}
	return last
}
