package openai

import (
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loops read the answers of plain TCP connections: each shard is one goroutine
// over an epoll set of its own, which costs a fraction of a goroutine's wake-up
// and a second, empty read for every event.
type loops struct {
	clock  *stamps
	pace   pace // of a new shard
	next   atomic.Uint32
	mu     sync.Mutex
	shards []*shard // made as connections come
	ended  bool
}

func newLoops(clock *stamps) *loops { return &loops{clock: clock, pace: newPace()} }

// adopt takes a connection over, nil where that cannot be done: then it is
// untouched.
func (l *loops) adopt(conn net.Conn) *sock {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	s := l.shard()
	if s == nil {
		return nil
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	fd := -1
	// The runtime's poller would wake for every segment; it knows its own
	// descriptor only, so that a copy is free of it.
	if raw.Control(func(was uintptr) { fd, err = unix.FcntlInt(was, unix.F_DUPFD_CLOEXEC, 0) }) != nil || err != nil {
		return nil
	}
	c := &sock{fd: fd, shard: s, done: make(chan struct{}, 1)}
	if !s.add(c) {
		unix.Close(fd)
		return nil
	}
	conn.Close()
	return c
}

// shard returns the next shard, nil where there can be none.
func (l *loops) shard() *shard {
	n := max(1, runtime.GOMAXPROCS(0)/2)
	i := int(l.next.Add(1)-1) % n
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.shards) <= i && !l.ended {
		s, err := newShard(l.clock, l.pace)
		if err != nil {
			return nil
		}
		l.shards = append(l.shards, s)
		go s.run()
	}
	if l.ended {
		return nil
	}
	return l.shards[i]
}

// close ends each shard once its last connection is closed.
func (l *loops) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, s := range l.shards {
		s.mu.Lock()
		s.ended = true
		s.leave()
		s.mu.Unlock()
	}
}

// turn is how long a busy shard goes on without a turn for others.
const turn = 2 * time.Millisecond

// batch is how many connections one look at the set takes.
const batch = 256

// shard is the goroutine of some connections.
type shard struct {
	clock *stamps
	set   int // epoll set of the sockets
	gate  int // epoll set of set, unless paced: in the runtime's poller
	file  *os.File
	raw   syscall.RawConn
	round func(uintptr) bool

	procs   int   // GOMAXPROCS
	found   int   // connections, by the last look
	paced   bool  // it looks once a tick
	over    bool  // an answer has ended
	yielded int64 // when others had their turn
	pace    pace
	message message
	buf     []byte
	events  [batch]unix.EpollEvent
	ready   [batch]*sock
	again   []*sock // there is more to read

	mu    sync.Mutex
	socks []*sock // by slot
	free  []int32
	ended bool
}

func newShard(clock *stamps, p pace) (*shard, error) {
	s := &shard{clock: clock, pace: p, set: -1, gate: -1, buf: make([]byte, readBuffer)}
	err := s.open()
	if err != nil {
		s.shut()
		return nil, err
	}
	// What comes between a look and the wait ends the wait: it is all one Read.
	s.round = func(uintptr) bool {
		s.look()
		return s.paced
	}
	s.procs = runtime.GOMAXPROCS(0)
	s.pace.begin(clock.now())
	return s, nil
}

func (s *shard) open() (err error) {
	if s.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if s.gate, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err = unix.EpollCtl(s.gate, unix.EPOLL_CTL_ADD, s.set, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}); err != nil {
		return err
	}
	if err = unix.SetNonblock(s.gate, true); err != nil {
		return err
	}
	s.file = os.NewFile(uintptr(s.gate), "epoll")
	if err = s.file.SetReadDeadline(time.Time{}); err != nil { // not in the poller
		return err
	}
	s.raw, err = s.file.SyscallConn()
	return err
}

func (s *shard) shut() {
	if s.set >= 0 {
		unix.Close(s.set)
	}
	switch {
	case s.file != nil:
		s.file.Close()
	case s.gate >= 0:
		unix.Close(s.gate)
	}
}

// add puts a connection into the set; false once the shard has ended.
func (s *shard) add(c *sock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	c.slot = int32(len(s.socks))
	if n := len(s.free); n > 0 {
		c.slot, s.free = s.free[n-1], s.free[:n-1]
		s.socks[c.slot] = c
	} else {
		s.socks = append(s.socks, c)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(c.fd), Pad: c.slot}
	if unix.EpollCtl(s.set, unix.EPOLL_CTL_ADD, c.fd, &ev) != nil {
		s.drop(c.slot)
		return false
	}
	return true
}

// remove forgets a connection, whose descriptor it closes.
func (s *shard) remove(c *sock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unix.Close(c.fd)
	s.drop(c.slot)
	s.leave()
}

func (s *shard) drop(slot int32) {
	s.socks[slot] = nil
	s.free = append(s.free, slot)
}

// leave wakes the goroutine for the last time, when nothing is left to do; mu is
// held.
func (s *shard) leave() {
	if s.ended && len(s.free) == len(s.socks) {
		_ = s.file.SetReadDeadline(time.Unix(1, 0))
	}
}

// run is the shard's goroutine. It waits through the runtime's poller; a busy
// one naps.
func (s *shard) run() {
	for s.raw.Read(s.round) == nil { // an error: the deadline of leave
		s.gather(true)
		for s.paced {
			s.yield()
			nap(tick)
			s.look()
		}
		s.gather(false)
	}
	s.shut()
}

// look serves what there is.
func (s *shard) look() {
	for s.found = batch; s.found == batch; {
		s.find()
		s.serve()
	}
	s.paced = s.pace.paced(s.paced, s.clock.now(), s.clock.kernel && s.procs > 1)
}

// gather says whether the poller is not to wake for the set.
func (s *shard) gather(on bool) {
	wake := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
	if on {
		wake.Events = 0
	}
	// It cannot fail: both sets are open, and one is in the other.
	_ = unix.EpollCtl(s.gate, unix.EPOLL_CTL_MOD, s.set, &wake)
	s.procs = runtime.GOMAXPROCS(0)
}

// yield gives others a turn: when an answer has ended, for which a goroutine
// waits, and now and then.
func (s *shard) yield() {
	now := s.clock.now()
	if s.over || now-s.yielded > int64(turn) {
		s.over, s.yielded = false, now
		runtime.Gosched()
	}
}

// nap puts the thread to sleep without a word to the scheduler, which would
// cost more than the sleep. Nothing else runs in its place meanwhile, so it
// takes more than one P. A collection is not held up: its signal ends the nap.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// find asks the set which connections have something. It does not block, so the
// scheduler need not know.
func (s *shard) find() {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(s.set), uintptr(unsafe.Pointer(&s.events[0])), batch, 0, 0, 0)
	if s.found = int(n); errno != 0 {
		s.found = 0
	}
}

// serve reads every connection that has something.
func (s *shard) serve() {
	s.mu.Lock()
	for i := range s.found {
		s.ready[i] = nil
		if c := s.socks[s.events[i].Pad]; c != nil && c.fd == int(s.events[i].Fd) {
			s.ready[i] = c
		}
	}
	s.mu.Unlock()
	for i := range s.found {
		if c := s.ready[i]; c != nil && c.wake(s.events[i].Events, s) {
			s.again = append(s.again, c)
		}
		s.ready[i] = nil
	}
	for len(s.again) > 0 {
		more := s.again
		s.again = s.again[:0]
		for i, c := range more {
			if more[i] = nil; c.more(s) {
				s.again = append(s.again, c)
			}
		}
	}
}
