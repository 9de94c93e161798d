package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// Lines splits a text into lines. A line is valid until the next call.
type Lines struct {
	Line  int64 // number of the line that was returned last
	Start int64 // its offset

	r     *bufio.Reader
	limit int
	buf   []byte // a line longer than the reader's buffer
	off   int64  // offset of the next one
}

// NewLines splits r; lines of more than limit bytes are too long.
func NewLines(r io.Reader, limit int) *Lines {
	size := 256 << 10
	if whole, ok := r.(*bytes.Reader); ok { // a sample
		size = min(size, whole.Len()+1)
	}
	return &Lines{r: bufio.NewReaderSize(r, size), limit: limit}
}

// LinesOf is the lines of r, which is the text of a source or the start of it.
func LinesOf(s *source.Source, r io.Reader) *Lines {
	l := NewLines(r, rows.MaxBytes)
	l.off = s.Hole
	return l
}

// Next returns a line with its end cut off. A line over the limit comes as
// tooLong and without its bytes. io.EOF ends the text.
func (l *Lines) Next() (line []byte, tooLong bool, err error) {
	l.Line++
	l.Start = l.off
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.off += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full && len(l.buf) == 0 && !tooLong {
			line = part // the common case: no copy
		} else if !tooLong {
			l.buf = append(l.buf, part...)
			line = l.buf
		}
		if len(line) > l.limit {
			tooLong, line, l.buf = true, nil, nil
		}
		if full {
			continue
		}
		if err != nil && !(errors.Is(err, io.EOF) && l.off > l.Start) {
			return nil, false, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		for len(line) > 0 && line[len(line)-1] == '\r' { // Windows tools write \r\r\n too
			line = line[:len(line)-1]
		}
		if n := len(line); n > 0 && (line[0] == 0 || line[n-1] == 0) { // a hole, where a writer was stopped
			line = bytes.Trim(line, "\x00")
		}
		return line, tooLong, nil
	}
}

// CutBOM takes a byte order mark off a text.
func CutBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }
