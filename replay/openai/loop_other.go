//go:build !linux

package openai

import (
	"context"
	"net"
)

// loops adopt nothing where there is no epoll.
type loops struct{}

func newLoops(*stamps) *loops { return &loops{} }

func (*loops) adopt(net.Conn) *sock { return nil }
func (*loops) close()               {}

// sock is never made.
type sock struct{}

func (*sock) begin(*rawConn, receiver, *passage, int64) {}
func (*sock) wait(context.Context) error                { return nil }
func (*sock) write([]byte) (int, error)                 { return 0, nil }
func (*sock) writeAll([]byte) error                     { return nil }
func (*sock) sent() int64                               { return 0 }
func (*sock) clock() *stamps                            { return nil }
func (*sock) alive() bool                               { return false }
func (*sock) close()                                    {}
