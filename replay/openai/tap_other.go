//go:build !unix

package openai

import "net"

// intake is the buffer of the read under way.
type intake struct{ lent *[]byte }

func (c *tap) open() {}

// Read reads into p.
func (c *tap) Read(p []byte) (int, error) { return c.plainRead(p) }

func (c *tap) borrow() ([]byte, error) { return c.hold() }

// writeAll writes all of p.
func (c *tap) writeAll(p []byte) (int, error) { return c.plainWrite(p) }

func (c *tap) writeNow(p []byte) (int, error) { return c.plainWrite(p) }

func (c *tap) alive() bool { return true }

func (c *tap) aliveOver(net.Conn) bool { return true }
