package mock

import (
	"io"
	"time"
)

// fill reads more bytes behind the unread ones, and stamps them when there were
// none before.
func (c *wireConn) fill() error {
	first := c.r == c.n
	if c.r > 0 {
		c.n = copy(c.buf, c.buf[c.r:c.n])
		c.r = 0
	}
	if c.n == len(c.buf) {
		c.grow(2 * len(c.buf)) // a head is at most maxHead, a line of a chunked body less
	}
	n, stamp, err := c.in.Read(c.buf[c.n:])
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return err
	}
	c.n += n
	if first {
		c.stamp(stamp)
	}
	return nil
}

// stamp notes when bytes that have just been read came: by the kernel's stamp
// where it gave a sensible one.
func (c *wireConn) stamp(kernel time.Time) {
	const sane = 10 * time.Second // a step of the clock would show as more, or less than 0
	c.arrived, c.at, c.kernel = c.h.driver.Now(), time.Now(), false
	if kernel.IsZero() {
		return
	}
	if age := c.at.Sub(kernel); age >= 0 && age < sane {
		c.arrived, c.at, c.kernel = c.arrived-age, kernel, true
	}
}

func (c *wireConn) grow(size int) {
	if len(c.buf) >= size {
		return
	}
	buf := make([]byte, size)
	c.n = copy(buf, c.buf[c.r:c.n])
	c.buf, c.r = buf, 0
}

// shrink gives a large buffer back when what is unread fits a small one.
func (c *wireConn) shrink() {
	if len(c.buf) == smallInput || c.n-c.r > smallInput/2 {
		return
	}
	buf := make([]byte, smallInput)
	c.n = copy(buf, c.buf[c.r:c.n])
	c.buf, c.r = buf, 0
}

// within bounds the reads to come, unless they are.
func (c *wireConn) within(d time.Duration) {
	if !c.timed {
		c.timed = true
		_ = c.conn.SetReadDeadline(time.Now().Add(d)) // fails on a closed connection, as the read will
	}
}

func (c *wireConn) untimed() {
	if c.timed {
		c.timed = false
		_ = c.conn.SetReadDeadline(time.Time{})
	}
}

// linger reads and drops what the client still sends, for a while: a close with
// unread bytes would be a reset, which can take the answer with it.
func (c *wireConn) linger() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		return
	}
	c.timed = false
	c.within(time.Second)
	_, _ = io.Copy(io.Discard, io.LimitReader(c.conn, maxDiscard))
}
