//go:build !linux

package openai

import (
	"errors"
	"syscall"
)

func askStamps(string, string, syscall.RawConn) error { return nil }

func holdStamps() (release func(), err error) {
	return nil, errors.New("the kernel of this system gives no receive stamps")
}
