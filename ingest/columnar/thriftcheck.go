package columnar

import (
	"encoding/binary"
	"errors"
)

// thriftCheck walks a message of Thrift's compact protocol, in which Parquet
// keeps its footer and page headers, before it is decoded: the library takes
// memory for what a length claims.
// Source: thrift-compact-protocol.md.
type thriftCheck struct {
	b     []byte
	at    int
	items int // of lists, that may still come
}

var (
	errThrift      = errors.New("its description is damaged")
	errThriftShort = errors.New("its description is cut short")
)

// thriftStruct returns the length of the struct that b begins with.
func thriftStruct(b []byte, items int) (int, error) {
	t := &thriftCheck{b: b, items: items}
	err := t.structure(0)
	return t.at, err
}

func (t *thriftCheck) structure(depth int) error {
	if depth > maxSchemaDepth {
		return errThrift
	}
	for {
		if t.at >= len(t.b) {
			return errThriftShort
		}
		head := t.b[t.at]
		t.at++
		if head == 0 {
			return nil
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := t.varint(); err != nil {
				return err
			}
		}
		if err := t.value(head&15, depth+1, true); err != nil {
			return err
		}
	}
}

// value skips a value of a type. A bool that is a field lies in the field's
// head, one in a list has a byte.
func (t *thriftCheck) value(kind byte, depth int, field bool) error {
	switch kind {
	case 1, 2:
		if field {
			return nil
		}
		return t.skip(1)
	case 3:
		return t.skip(1)
	case 4, 5, 6:
		_, err := t.varint()
		return err
	case 7:
		return t.skip(8)
	case 8:
		n, err := t.varint()
		if err != nil {
			return err
		}
		if n > uint64(len(t.b)-t.at) {
			return errThriftShort
		}
		return t.skip(int(n))
	case 9, 10:
		return t.list(depth)
	case 12:
		return t.structure(depth)
	}
	return errThrift // maps are in no message of Parquet
}

func (t *thriftCheck) list(depth int) error {
	if t.at >= len(t.b) {
		return errThriftShort
	}
	head := t.b[t.at]
	t.at++
	n := uint64(head >> 4)
	if n == 15 {
		var err error
		if n, err = t.varint(); err != nil {
			return err
		}
	}
	if n > uint64(t.items) {
		return errThrift
	}
	if n > uint64(len(t.b)-t.at) {
		return errThriftShort
	}
	t.items -= int(n)
	for range n {
		if err := t.value(head&15, depth, false); err != nil {
			return err
		}
	}
	return nil
}

func (t *thriftCheck) varint() (uint64, error) {
	v, n := binary.Uvarint(t.b[t.at:])
	switch {
	case n == 0:
		return 0, errThriftShort
	case n < 0:
		return 0, errThrift
	}
	t.at += n
	return v, nil
}

func (t *thriftCheck) skip(n int) error {
	if n > len(t.b)-t.at {
		return errThriftShort
	}
	t.at += n
	return nil
}
