package spill

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Reader gives the records of a Sorter in order.
type Reader struct {
	memory *Sorter
	at     int

	heap  []*source // of those not at their end, the first on top
	moved bool      // the top was returned and must go on
	err   error
}

// Next returns the next record; io.EOF is the end. The body is valid until the
// next call.
func (r *Reader) Next() (Key, []byte, error) {
	if r.err != nil {
		return Key{}, nil, r.err
	}
	if r.memory != nil {
		if r.at == len(r.memory.index) {
			return Key{}, nil, io.EOF
		}
		e := r.memory.index[r.at]
		r.at++
		return e.key, r.memory.body(e), nil
	}
	if r.moved {
		r.advance()
	}
	if r.err != nil {
		return Key{}, nil, r.err
	}
	if len(r.heap) == 0 {
		return Key{}, nil, io.EOF
	}
	r.moved = true
	return r.heap[0].key, r.heap[0].body, nil
}

// advance moves the source on top to its next record.
func (r *Reader) advance() {
	r.moved = false
	switch err := r.heap[0].next(); {
	case errors.Is(err, io.EOF):
		last := len(r.heap) - 1
		r.heap[0] = r.heap[last]
		r.heap = r.heap[:last]
	case err != nil:
		r.err = err
		return
	}
	r.down(0)
}

// merge reads runs as one; of equal keys those of the earlier run come first.
func merge(runs []run) *Reader {
	r := &Reader{}
	for i, run := range runs {
		s := newSource(run.file.section(0, run.file.size), run.file.size, i)
		switch err := s.next(); {
		case errors.Is(err, io.EOF):
		case err != nil:
			r.err = err
		default:
			r.heap = append(r.heap, s)
		}
	}
	for i := len(r.heap)/2 - 1; i >= 0; i-- {
		r.down(i)
	}
	return r
}

func (r *Reader) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(r.heap) {
			return
		}
		if child+1 < len(r.heap) && r.heap[child+1].before(r.heap[child]) {
			child++
		}
		if !r.heap[child].before(r.heap[i]) {
			return
		}
		r.heap[i], r.heap[child] = r.heap[child], r.heap[i]
		i = child
	}
}

// source is one run being read.
type source struct {
	r    *bufio.Reader
	left int64 // bytes not read yet
	rank int
	key  Key
	body []byte
	head [16]byte
}

func newSource(r io.Reader, size int64, rank int) *source {
	return &source{r: bufio.NewReaderSize(r, runBuffer), left: size, rank: rank}
}

func (s *source) before(o *source) bool {
	return s.key.less(o.key) || (s.key == o.key && s.rank < o.rank)
}

// next reads a record. A length is believed only as far as the file goes.
func (s *source) next() error {
	if s.left == 0 {
		return io.EOF
	}
	if s.left < 17 {
		return errDamaged
	}
	if _, err := io.ReadFull(s.r, s.head[:]); err != nil {
		return damaged(err)
	}
	n, err := binary.ReadUvarint(s.r)
	if err != nil {
		return damaged(err)
	}
	s.left -= 16 + uvarintLen(n)
	if s.left < 0 || n > uint64(s.left) {
		return errDamaged
	}
	s.left -= int64(n)
	if uint64(cap(s.body)) < n {
		s.body = make([]byte, n+n/2)
	}
	s.body = s.body[:n]
	if _, err := io.ReadFull(s.r, s.body); err != nil {
		return damaged(err)
	}
	s.key = Key{binary.LittleEndian.Uint64(s.head[:8]), binary.LittleEndian.Uint64(s.head[8:])}
	return nil
}

func uvarintLen(n uint64) int64 {
	k := int64(1)
	for ; n >= 0x80; n >>= 7 {
		k++
	}
	return k
}

func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errDamaged
	}
	return err
}
