package openai

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sock is a connection that a shard reads. Whoever holds mu may use the
// descriptor and the parser: the shard while it reads, the request's goroutine
// at its start and end.
type sock struct {
	shard *shard
	fd    int
	slot  int32
	done  chan struct{} // the answer is over
	timer *time.Timer   // the request's next limit

	mu     sync.Mutex
	closed bool
	missed bool          // something came while no answer was awaited
	hung   bool          // the other side has ended: reads go on to the end, which makes no sign of its own
	space  chan struct{} // the kernel takes more of a request; nil: nobody waits
	last   int64         // stamp of the last read
	wrote  int64         // stamp of the last write
	to     *rawConn      // nil: no answer is awaited
	rc     receiver
	seen   *passage
	shift  int64
	err    error
}

// begin says where the next answer goes. Nothing is read before.
func (s *sock) begin(c *rawConn, rc receiver, p *passage, shift int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to, s.rc, s.seen, s.shift, s.err = c, rc, p, shift, nil
	clock := s.shard.clock
	c.armed, _ = c.stay.due()
	left := time.Duration(c.armed - clock.now())
	if s.timer == nil {
		s.timer = time.NewTimer(left)
	} else {
		s.timer.Reset(left)
	}
}

// wait returns when the answer is over, or the request by its limits or ctx.
func (s *sock) wait(ctx context.Context) error {
	defer s.timer.Stop()
	s.catchUp()
	for {
		select {
		case <-s.done:
			return s.err
		case <-ctx.Done():
			return s.abandon(errCancelled)
		case <-s.timer.C:
			if why := s.due(); why != nil {
				return s.abandon(why)
			}
		}
	}
}

// catchUp reads what came before the answer was awaited: the shard has passed
// over it, and may see no sign of it again.
func (s *sock) catchUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.missed {
		return
	}
	s.missed = false
	buf := s.shard.clock.buffers.Get().(*[]byte)
	defer s.shard.clock.buffers.Put(buf)
	for m := (message{}); s.to != nil && s.read(*buf, &m, nil); {
	}
}

// due returns the limit that has passed, and sets the timer where none has.
func (s *sock) due() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.to
	if c == nil {
		return nil
	}
	at, why := c.stay.due()
	left := time.Duration(at - s.shard.clock.now())
	if left <= 0 {
		return why
	}
	c.armed = at
	s.timer.Reset(left)
	return nil
}

// abandon ends the wait for an answer that is not over.
func (s *sock) abandon(why error) error {
	s.mu.Lock()
	over := s.to == nil
	s.to = nil
	s.mu.Unlock()
	if over {
		<-s.done
		return s.err
	}
	return why
}

// finish ends an answer; mu is held.
func (s *sock) finish(err error) {
	s.to, s.rc, s.seen, s.err = nil, nil, nil, err
	s.done <- struct{}{} // has room: each answer is finished once, and waited for
}

// hungUp are the signs of an end, or a reset.
const hungUp = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR

// wake does what the set says of the connection; true when there may be more.
func (s *sock) wake(what uint32, by *shard) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if what&unix.EPOLLOUT != 0 && s.space != nil {
		select {
		case s.space <- struct{}{}:
		default:
		}
	}
	s.hung = s.hung || what&hungUp != 0
	switch {
	case s.closed || what&(unix.EPOLLIN|hungUp) == 0:
		return false
	case s.to == nil:
		s.missed = true
		return false
	}
	return s.readBy(by)
}

// more reads on.
func (s *sock) more(by *shard) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.to == nil {
		s.missed = true
		return false
	}
	return s.readBy(by)
}

// readBy is read by the shard's goroutine.
func (s *sock) readBy(by *shard) bool {
	more := s.read(by.buf, &by.message, &by.pace)
	by.over = by.over || s.to == nil
	return more
}

// read reads once and hands on what came; true when there may be more: a read
// that leaves room has taken all, and what comes later is a new sign, but for an
// end that has been signed. mu is held.
func (s *sock) read(buf []byte, m *message, p *pace) bool {
	n, stamp, err := 0, int64(0), error(unix.EINTR)
	for err == unix.EINTR {
		n, stamp, err = m.receive(s.fd, buf)
	}
	c, clock := s.to, s.shard.clock
	switch {
	case err == unix.EAGAIN:
		return false
	case err != nil:
		s.finish(err)
		return false
	case n == 0:
		s.finish(c.parser.end())
		return false
	}
	s.last = clock.read(stamp, max(s.last, s.wrote))
	stop, err := c.accept(buf[:n], s.last+s.shift, clock, s.rc, s.seen)
	if p != nil {
		p.note(c.pieces, stamp != 0)
	}
	if stop || err != nil || c.parser.over {
		s.finish(err)
		return false
	}
	if due, _ := c.stay.due(); due < c.armed {
		c.armed = due
		s.timer.Reset(time.Duration(due - clock.now()))
	}
	return n == len(buf) || s.hung
}

func (s *sock) clock() *stamps { return s.shard.clock }

// sent is the stamp of the last write.
func (s *sock) sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

// write writes what the kernel takes at once.
func (s *sock) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(p, false)
}

// put writes what the kernel takes, and stamps it as a tap does; mu is held.
func (s *sock) put(p []byte, parts bool) (n int, err error) {
	if s.closed {
		return 0, net.ErrClosed
	}
	for n < len(p) {
		at := s.shard.clock.now()
		k, err := unix.Write(s.fd, p[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return n, nil
		case err != nil:
			return n, err
		}
		if n += k; parts || k < len(p) {
			at = s.shard.clock.now() // when the kernel had the last part
		}
		s.wrote = at
	}
	return n, nil
}

// writeAll writes the rest of a request as the kernel takes it.
func (s *sock) writeAll(p []byte) error {
	for {
		space, n, err := s.putMore(p)
		if p = p[n:]; len(p) == 0 || err != nil {
			return err
		}
		if _, ok := <-space; !ok {
			return net.ErrClosed
		}
	}
}

// putMore is put with a sign of when the kernel takes more.
func (s *sock) putMore(p []byte) (space chan struct{}, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.space == nil && !s.closed {
		s.space = make(chan struct{}, 1) // before the write, whose refusal arms the sign
	}
	space = s.space
	if n, err = s.put(p, true); n == len(p) || err != nil {
		s.space = nil
	}
	return space, n, err
}

// alive is that of a tap.
func (s *sock) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	var b [1]byte
	_, _, _, _, err := unix.Recvmsg(s.fd, b[:], nil, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == unix.EAGAIN
}

func (s *sock) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.space != nil {
		close(s.space)
		s.space = nil
	}
	s.shard.remove(s)
}
