package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// lines splits a text into lines. A line is valid until the next call.
type lines struct {
	r     *bufio.Reader
	limit int
	buf   []byte // a line longer than the reader's buffer
	line  int64  // number of the line that was returned last
	start int64  // its offset
	off   int64  // offset of the next one
}

func newLines(r io.Reader, limit int) *lines {
	size := 256 << 10
	if whole, ok := r.(*bytes.Reader); ok { // a sample
		size = min(size, whole.Len()+1)
	}
	return &lines{r: bufio.NewReaderSize(r, size), limit: limit}
}

// linesOf is the lines of a source's text.
func linesOf(s *source.Source, r io.Reader) *lines {
	l := newLines(r, rows.MaxBytes)
	l.off = s.Hole
	return l
}

// next returns a line with its end cut off. A line over the limit comes as
// tooLong and without its bytes. io.EOF ends the text.
func (l *lines) next() (line []byte, tooLong bool, err error) {
	l.line++
	l.start = l.off
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
		if err != nil && !(errors.Is(err, io.EOF) && l.off > l.start) {
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
