//go:build unix

package openai

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// intake is the read under way.
type intake struct {
	p       []byte  // nil: take a buffer only once there are bytes
	lent    *[]byte // that buffer
	n       int
	err     error
	message message
	glance  bool // not to wait
	try     func(uintptr) bool
}

// open finds the descriptor under the connection.
func (c *tap) open() {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	c.raw, c.in.try, c.out.try = raw, c.receive, c.transmit
}

// Read reads into p.
func (c *tap) Read(p []byte) (int, error) {
	if c.raw == nil || len(p) == 0 {
		return c.plainRead(p)
	}
	c.in.p = p
	err := c.wait()
	c.in.p = nil
	return c.in.n, err
}

// borrow waits for bytes and reads them into a buffer of the pool, which goes
// back by giveBack: a connection that waits holds none.
func (c *tap) borrow() ([]byte, error) {
	if c.raw == nil {
		return c.hold()
	}
	err := c.wait()
	if c.in.lent == nil {
		return nil, err
	}
	return (*c.in.lent)[:c.in.n], err
}

func (c *tap) wait() error {
	c.in.n, c.in.err = 0, nil
	if err := c.raw.Read(c.in.try); err != nil {
		return err
	}
	if c.in.err == nil && c.in.n == 0 {
		return io.EOF
	}
	return c.in.err
}

// receive reads once; false when there is nothing yet.
func (c *tap) receive(fd uintptr) bool {
	in := &c.in
	p, lent := in.p, (*[]byte)(nil)
	if p == nil {
		lent = c.clock.buffers.Get().(*[]byte)
		p = *lent
	}
	n, stamp, err := 0, int64(0), error(unix.EINTR)
	for err == unix.EINTR {
		n, stamp, err = in.message.receive(int(fd), p)
	}
	if err == nil && n > 0 {
		c.last.Store(c.clock.read(stamp, c.floor()))
		in.n, in.err, in.lent = n, nil, lent
		return true
	}
	if lent != nil {
		c.clock.buffers.Put(lent)
	}
	in.err = err
	if err == unix.EAGAIN && in.glance {
		in.err = os.ErrDeadlineExceeded // which TLS takes for a passing matter
		return true
	}
	return err != unix.EAGAIN
}

// writeAll writes all of p.
func (c *tap) writeAll(p []byte) (int, error) {
	if c.raw == nil {
		return c.plainWrite(p)
	}
	return c.put(p, true)
}

// writeNow writes what the kernel takes at once.
func (c *tap) writeNow(p []byte) (int, error) {
	if c.raw == nil {
		return c.plainWrite(p)
	}
	return c.put(p, false)
}

func (c *tap) put(p []byte, wait bool) (int, error) {
	o := &c.out
	o.p, o.n, o.wait, o.parts, o.err = p, 0, wait, false, nil
	err := c.raw.Write(o.try)
	o.p = nil
	if err == nil {
		err = o.err
	}
	if o.n == len(p) || err != nil {
		c.sent(o.at, err)
	}
	return o.n, err
}

// transmit writes until all is taken; false to be called again once the kernel
// takes more.
func (c *tap) transmit(fd uintptr) bool {
	o := &c.out
	for o.n < len(o.p) {
		at := c.clock.now()
		n, err := unix.Write(int(fd), o.p[o.n:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			o.parts = true
			return !o.wait
		case err != nil:
			o.err = err
			return true
		}
		if o.n += n; o.n < len(o.p) {
			o.parts = true
		} else if o.parts {
			at = c.clock.now()
		}
		o.at = at
	}
	return true
}

// alive reports whether an idle connection may be used: the server has not
// ended it, and nothing came that nobody asked for.
func (c *tap) alive() bool {
	if c.raw == nil {
		return true
	}
	ok := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, _, _, err := unix.Recvmsg(int(fd), b[:], nil, unix.MSG_PEEK|unix.MSG_DONTWAIT)
		ok = err == unix.EAGAIN
	})
	return err == nil && ok
}

// aliveOver is alive of a connection over TLS, whose own messages (session
// tickets) may lie there: it reads what there is.
func (c *tap) aliveOver(secure net.Conn) bool {
	if c.raw == nil {
		return true
	}
	var b [1]byte
	secure.SetReadDeadline(time.Time{})
	c.in.glance = true
	n, err := secure.Read(b[:])
	c.in.glance = false
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
