package spill

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

const (
	partBits   = 6
	partCount  = 1 << partBits
	partBuffer = 64 << 10 / refBytes * refBytes
	refBytes   = 24 // key, position
	hitBytes   = 24 // position, where it was before, how often
)

// ref is a key at a position of the sequence.
type ref struct {
	key Key
	pos uint64
}

// hit says where the key at pos stood before, and how often.
type hit struct{ pos, at, nth uint64 }

// parts deals refs out by the top bits of the key's Lo, which must be spread
// evenly, in one file. The order within a part is that of add.
type parts struct {
	file   *file
	shift  uint // bits of Lo that a part of which this is made was told by
	buf    [partCount][]byte
	chunks [partCount][]chunk
}

type chunk struct {
	off int64
	n   int
}

func newParts(s *Space, shift uint) (*parts, error) {
	f, err := s.create()
	return &parts{file: f, shift: shift}, err
}

func (p *parts) add(r ref) error {
	i := r.key.Lo << p.shift >> (64 - partBits)
	b := p.buf[i]
	if b == nil {
		b = make([]byte, 0, 64*refBytes)
	}
	b = binary.LittleEndian.AppendUint64(b, r.key.Hi)
	b = binary.LittleEndian.AppendUint64(b, r.key.Lo)
	p.buf[i] = binary.LittleEndian.AppendUint64(b, r.pos)
	if len(p.buf[i]) == partBuffer {
		return p.flush(int(i))
	}
	return nil
}

func (p *parts) flush(i int) error {
	if len(p.buf[i]) == 0 {
		return nil
	}
	p.chunks[i] = append(p.chunks[i], chunk{p.file.size, len(p.buf[i])})
	_, err := p.file.Write(p.buf[i])
	p.buf[i] = p.buf[i][:0]
	return err
}

// finish writes what is pending and gives its memory back.
func (p *parts) finish() error {
	for i := range p.buf {
		if err := p.flush(i); err != nil {
			return err
		}
		p.buf[i] = nil
	}
	return nil
}

// each calls do with the refs of a part in the order of add.
func (p *parts) each(ctx context.Context, i int, do func(ref) error) error {
	var buf []byte
	for _, c := range p.chunks[i] {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := slices.Grow(buf[:0], c.n)[:c.n]
		buf = b
		if _, err := p.file.ReadAt(b, c.off); err != nil {
			return damaged(err)
		}
		for ; len(b) >= refBytes; b = b[refBytes:] {
			r := ref{Key{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, binary.LittleEndian.Uint64(b[16:])}
			if err := do(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// table is a hash table of keys with a fixed largest size.
type table struct {
	slots []slot
	n     int
	max   int // keys
}

type slot struct {
	key Key
	at  uint64
	nth uint64 // 0 where the slot is free, else 1 + how often it was found
}

const slotBytes = 32

func newTable(memory int) *table {
	slots := 1 << 8
	for 2*slots*slotBytes <= memory {
		slots *= 2
	}
	return &table{slots: make([]slot, min(slots, 1<<12)), max: slots / 4 * 3}
}

// find returns the slot of a key, one with nth 0 for a new key. It is nil when
// the table is full and the key new.
func (t *table) find(k Key) *slot {
	for {
		mask := uint64(len(t.slots) - 1)
		i := (k.Lo ^ k.Hi) & mask
		for t.slots[i].nth != 0 && t.slots[i].key != k {
			i = (i + 1) & mask
		}
		s := &t.slots[i]
		if s.nth != 0 || t.n < len(t.slots)/4*3 {
			return s
		}
		if t.n >= t.max {
			return nil
		}
		t.grow()
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.nth == 0 {
			continue
		}
		i := (s.key.Lo ^ s.key.Hi) & mask
		for t.slots[i].nth != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

func (t *table) clear() {
	clear(t.slots)
	t.n = 0
}

// rule says what a ref does to the slot of its key, and whether it gives a hit.
type rule func(s *slot, r ref) (hit, bool)

// matcher runs a rule over all parts and gathers the hits, part after part.
type matcher struct {
	space *Space
	table *table
	rule  rule
	file  *file
	out   *bufio.Writer
	off   int64
	segs  []chunk64 // hits of one part each, in order of position
	buf   [hitBytes]byte
}

type chunk64 struct{ off, n int64 }

// run takes the parts of p one by one. A part with more keys than the table
// holds is dealt out again by further bits.
func (m *matcher) run(ctx context.Context, p *parts) error {
	for i := range partCount {
		full, err := m.part(ctx, p, i)
		if err != nil {
			return err
		}
		if !full {
			continue
		}
		finer, err := newParts(m.space, p.shift+partBits)
		if err != nil {
			return err
		}
		if err := p.each(ctx, i, finer.add); err != nil {
			return err
		}
		if err := finer.finish(); err != nil {
			return err
		}
		if err := m.run(ctx, finer); err != nil {
			return err
		}
	}
	return p.file.drop()
}

// part writes the hits of one part; full says that it has too many keys, and
// then its hits are void.
func (m *matcher) part(ctx context.Context, p *parts, i int) (full bool, err error) {
	m.table.clear()
	from := m.off
	last := p.shift+2*partBits > 64 // no bits are left to deal by
	err = p.each(ctx, i, func(r ref) error {
		s := m.table.find(r.key)
		if s == nil && last {
			m.table.max = len(m.table.slots)
			s = m.table.find(r.key)
		}
		if s == nil {
			full = true
			return errFull
		}
		if s.nth == 0 {
			m.table.n++
		}
		h, ok := m.rule(s, r)
		if !ok {
			return nil
		}
		binary.LittleEndian.PutUint64(m.buf[:], h.pos)
		binary.LittleEndian.PutUint64(m.buf[8:], h.at)
		binary.LittleEndian.PutUint64(m.buf[16:], h.nth)
		m.off += hitBytes
		_, err := m.out.Write(m.buf[:])
		return err
	})
	if full {
		return true, nil
	}
	if err == nil && m.off > from {
		m.segs = append(m.segs, chunk64{from, m.off - from})
	}
	return false, err
}

// errFull ends the reading of a part.
var errFull = errors.New("more keys than the table holds")

// match finishes p and returns its hits in order of position.
func match(ctx context.Context, s *Space, p *parts, memory int, r rule) (*hits, error) {
	if err := p.finish(); err != nil {
		return nil, err
	}
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	m := &matcher{space: s, table: newTable(memory), rule: r, file: f, out: bufio.NewWriterSize(f, runBuffer)}
	if err := m.run(ctx, p); err != nil {
		return nil, err
	}
	if err := m.out.Flush(); err != nil {
		return nil, err
	}
	return newHits(f, m.segs)
}

// hits merges the segments of a file of hits by position.
type hits struct {
	file *file
	heap []*hitSource
	err  error
}

type hitSource struct {
	r    *bufio.Reader
	left int64
	hit  hit
	buf  [hitBytes]byte
}

func newHits(f *file, segs []chunk64) (*hits, error) {
	h := &hits{file: f}
	size := max(4<<10, min(64<<10, 16<<20/(len(segs)+1)))
	for _, seg := range segs {
		s := &hitSource{r: bufio.NewReaderSize(f.section(seg.off, seg.n), size), left: seg.n}
		if err := s.next(); err != nil {
			return nil, damaged(err)
		}
		h.heap = append(h.heap, s)
	}
	for i := len(h.heap)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h, nil
}

func (s *hitSource) next() error {
	if s.left < hitBytes {
		return io.EOF
	}
	b := s.buf[:]
	if _, err := io.ReadFull(s.r, b); err != nil {
		return damaged(err)
	}
	s.left -= hitBytes
	s.hit = hit{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	return nil
}

// next returns the hits in order; io.EOF is the end and frees the file.
func (h *hits) next() (hit, error) {
	if len(h.heap) == 0 {
		if h.file != nil {
			h.err = h.file.drop()
			h.file = nil
		}
		if h.err != nil {
			return hit{}, h.err
		}
		return hit{}, io.EOF
	}
	top := h.heap[0]
	out := top.hit
	switch err := top.next(); {
	case err == io.EOF:
		last := len(h.heap) - 1
		h.heap[0] = h.heap[last]
		h.heap = h.heap[:last]
	case err != nil:
		return hit{}, err
	}
	h.down(0)
	return out, nil
}

func (h *hits) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			return
		}
		if child+1 < len(h.heap) && h.heap[child+1].hit.pos < h.heap[child].hit.pos {
			child++
		}
		if h.heap[child].hit.pos >= h.heap[i].hit.pos {
			return
		}
		h.heap[i], h.heap[child] = h.heap[child], h.heap[i]
		i = child
	}
}
