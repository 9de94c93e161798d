package mock

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"time"
)

// Buffer is a proxy in front of the server that holds answers back. Bytes leave
// when the first of them has waited for Hold, or Bytes of them have come,
// whichever is first, and at the end; with Whole at the end alone. In text:
// hold=50ms,bytes=4096 or whole,gzip.
type Buffer struct {
	Hold  Span `yaml:"hold,omitempty" json:"hold,omitempty"`
	Bytes int  `yaml:"bytes,omitempty" json:"bytes,omitempty"`
	Whole bool `yaml:"whole,omitempty" json:"whole,omitempty"`
	Gzip  bool `yaml:"gzip,omitempty" json:"gzip,omitempty"` // compress, for clients that accept it
}

// ParseBuffer reads a buffer in text.
func ParseBuffer(text string) (Buffer, error) {
	var b Buffer
	if err := setFields(text, b.fields().set); err != nil {
		return Buffer{}, fmt.Errorf("buffer: %w", err)
	}
	return b, b.Validate()
}

func (b *Buffer) fields() setter {
	return setter{"hold": &b.Hold, "bytes": &b.Bytes, "whole": &b.Whole, "gzip": &b.Gzip}
}

// String is the buffer in the form that ParseBuffer reads.
func (b Buffer) String() string {
	return b.fields().text([]string{"hold", "bytes", "whole", "gzip"})
}

// Validate says what is wrong with a buffer, naming the field.
func (b *Buffer) Validate() error {
	switch {
	case b.Bytes < 0 || b.Bytes > 1<<30:
		return fmt.Errorf("buffer: bytes is %d, give 1 to %d", b.Bytes, 1<<30)
	case b.Whole && (b.Hold != 0 || b.Bytes != 0):
		return fmt.Errorf("buffer: whole holds all, so leave hold and bytes out")
	}
	return nil
}

// holder holds the segments of one answer back.
type holder struct {
	Buffer
	data  []byte
	since time.Duration // when the first of data came
	zip   *gzip.Writer  // nil: not compressed
	out   bytes.Buffer  // of zip
}

// newHolder returns nil where nothing is held and nothing is compressed.
func newHolder(b Buffer) *holder {
	if (b == Buffer{}) {
		return nil
	}
	h := &holder{Buffer: b}
	if b.Gzip {
		h.zip = gzip.NewWriter(&h.out)
	}
	return h
}

// pass takes a segment in and appends what leaves.
func (h *holder) pass(dst []segment, in segment) []segment {
	dst = h.tick(dst, in.at)
	if len(h.data) == 0 {
		h.since = in.at
	}
	h.data = append(h.data, in.data...)
	now := h.Hold == 0 && h.Bytes == 0 || h.Bytes > 0 && len(h.data) >= h.Bytes
	switch {
	case in.end != goesOn && !(in.end == endSilent && h.Whole):
		return h.release(dst, in.at, in.end)
	case in.end != goesOn:
		return append(dst, segment{at: in.at, end: in.end})
	case now && !h.Whole && len(h.data) > 0:
		return h.release(dst, in.at, goesOn)
	}
	return dst
}

// due is when what is held must leave; false when nothing does by itself.
func (h *holder) due() (time.Duration, bool) {
	return h.since + h.Hold.D(), len(h.data) > 0 && h.Hold > 0
}

// tick appends what leaves by a time.
func (h *holder) tick(dst []segment, now time.Duration) []segment {
	if at, ok := h.due(); ok && at <= now {
		return h.release(dst, at, goesOn)
	}
	return dst
}

func (h *holder) release(dst []segment, at time.Duration, end ending) []segment {
	data := h.data
	h.data = nil
	if h.zip != nil {
		data = h.compress(data, end)
	}
	return append(dst, segment{at: at, data: data, end: end})
}

// compress returns data compressed, up to its last byte, or to the end of the
// body.
func (h *holder) compress(data []byte, end ending) []byte {
	h.out.Reset()
	_, _ = h.zip.Write(data) // a bytes.Buffer takes all
	if end == endWhole {
		_ = h.zip.Close()
	} else {
		_ = h.zip.Flush()
	}
	return bytes.Clone(h.out.Bytes())
}
