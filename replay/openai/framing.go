package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
)

// Limits on what an answer may hold beside its body.
const (
	maxHead      = 256 << 10 // interim answers included
	maxChunkLine = 4 << 10
	maxTrailer   = 16 << 10
	maxExcess    = 16 << 10 // of chunk lines over what small chunks need
)

// What an answer may be wrong in. The words are those of net/http.
var (
	errHeadSize  = errors.New("server response headers exceeded 256 KiB")
	errChunkLine = errors.New("malformed chunk size")
	errChunkEnd  = errors.New("malformed chunked encoding")
	errExcess    = errors.New("chunked encoding contains too much non-data")
	errTrailer   = errors.New("trailer too long")
)

// part is what of an answer was read.
type part uint8

const (
	nothing  part = iota // bytes that say nothing yet
	aHead                // the head, in parser.head
	someBody             // bytes of the body
)

// parser reads HTTP/1.1 answers (RFC 9112), pushed in as they come, cut
// anywhere. Per piece of body it allocates nothing.
type parser struct {
	head  head
	began bool // the head is behind us
	over  bool // the answer has ended
	line  []byte
	heads int    // bytes of heads so far
	left  uint64 // of the body by length, or of the chunk
	state chunkState
	extra int64 // bytes of chunk lines over what is due
}

// chunkState is where in a chunked body the next byte stands.
type chunkState uint8

const (
	atSize chunkState = iota
	inChunk
	afterChunk
	inTrailer
)

// reset makes the parser ready for the next answer.
func (p *parser) reset() {
	line := p.line[:0]
	if cap(line) > maxChunkLine {
		line = nil
	}
	*p = parser{line: line}
}

// next reads the front of b: it returns how many bytes it took and what they
// are. It is not called with no bytes, nor after the end.
func (p *parser) next(b []byte) (n int, kind part, data []byte, err error) {
	switch {
	case !p.began:
		n, kind, err = p.nextHead(b)
		return n, kind, nil, err
	case p.head.framing == byClose:
		return len(b), someBody, b, nil
	case p.head.framing == byLength:
		n := int(min(uint64(len(b)), p.left))
		p.left -= uint64(n)
		p.over = p.left == 0
		return n, someBody, b[:n], nil
	}
	return p.nextChunk(b)
}

// nextHead gathers a head; interim answers (1xx) are passed over. One that came
// in one piece is not copied.
func (p *parser) nextHead(b []byte) (n int, kind part, err error) {
	whole, from := b, len(p.line)
	end := -1
	if from == 0 {
		end = headEnd(b, 0)
	}
	if end < 0 {
		p.line = append(p.line, b...)
		whole = p.line
		end = headEnd(whole, from)
	}
	if n = len(b); end >= 0 {
		n, whole = end-from, whole[:end]
	}
	if p.heads += n; p.heads > maxHead {
		return n, nothing, errHeadSize
	}
	if end < 0 {
		if bytes.IndexByte(whole[:from], '\n') < 0 && bytes.IndexByte(b, '\n') >= 0 {
			err = startWrong(whole)
		}
		return n, nothing, err
	}
	err = p.head.parse(whole)
	p.line = p.line[:0] // the fields are read before the next bytes come
	if err != nil {
		return n, nothing, err
	}
	if s := p.head.status; s >= 100 && s < 200 && s != http.StatusSwitchingProtocols {
		return n, nothing, nil
	}
	p.began, p.left = true, uint64(p.head.length)
	p.over = p.head.framing == noBody || p.head.framing == byLength && p.left == 0
	return n, aHead, nil
}

// startWrong judges the first line alone, since what is no HTTP may never have
// an empty line.
func startWrong(b []byte) error {
	line := b[:bytes.IndexByte(b, '\n')+1]
	var h head
	return h.parse(append(line[:len(line):len(line)], "\r\n"...))
}

// headEnd returns the index after the empty line that ends a head, -1 where
// there is none yet; b[:from] has been looked through.
func headEnd(b []byte, from int) int {
	for i := max(from-2, 0); i < len(b); {
		k := bytes.IndexByte(b[i:], '\n')
		if k < 0 {
			return -1
		}
		i += k + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
	return -1
}

func (p *parser) nextChunk(b []byte) (n int, kind part, data []byte, err error) {
	switch p.state {
	case inChunk:
		n = int(min(uint64(len(b)), p.left))
		if p.left -= uint64(n); p.left == 0 {
			p.state = afterChunk
		}
		return n, someBody, b[:n], nil
	case afterChunk:
		n = p.take(b, 2)
		if len(p.line) < 2 {
			return n, nothing, nil, nil
		}
		if string(p.line) != "\r\n" {
			return n, nothing, nil, errChunkEnd
		}
		p.line, p.state = p.line[:0], atSize
		return n, nothing, nil, nil
	case inTrailer:
		n, err = p.trailer(b)
		return n, nothing, nil, err
	}
	k := bytes.IndexByte(b, '\n')
	if k < 0 {
		k = len(b) - 1
	}
	if n = p.take(b, len(p.line)+k+1); p.line[len(p.line)-1] != '\n' {
		if len(p.line) > maxChunkLine+2 {
			err = errChunkLine
		}
		return n, nothing, nil, err
	}
	err = p.size(p.line)
	p.line = p.line[:0]
	return n, nothing, nil, err
}

// take moves bytes into line until it has so many.
func (p *parser) take(b []byte, upTo int) int {
	n := min(len(b), upTo-len(p.line))
	p.line = append(p.line, b[:n]...)
	return n
}

// size reads a chunk's line, extensions and all.
func (p *parser) size(line []byte) error {
	n := len(line)
	if n < 2 || bytes.IndexByte(line, '\r') != n-2 || n-2 >= maxChunkLine {
		return errChunkLine
	}
	p.extra += int64(n)
	hex, _, _ := bytes.Cut(bytes.TrimRight(line[:n-2], " \t"), []byte(";"))
	if len(hex) == 0 || len(hex) > 16 {
		return errChunkLine
	}
	p.left = 0
	for _, c := range hex {
		v, ok := hexDigit(c)
		if !ok {
			return errChunkLine
		}
		p.left = p.left<<4 | uint64(v)
	}
	// A sender may not hide behind chunk lines: 16 bytes each, and as much again
	// as twice the data, are borne.
	if p.extra = max(p.extra-16-2*int64(p.left), 0); p.extra > maxExcess {
		return errExcess
	}
	if p.state = inChunk; p.left == 0 {
		p.state = inTrailer
	}
	return nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// trailer reads what stands after the last chunk: an empty line, or fields
// that are not used.
func (p *parser) trailer(b []byte) (n int, err error) {
	for n < len(b) {
		p.line = append(p.line, b[n])
		n++
		if string(p.line) == "\r\n" {
			p.over = true
			return n, nil
		}
		if bytes.HasSuffix(p.line, []byte("\r\n\r\n")) {
			r := bufio.NewReader(bytes.NewReader(p.line))
			if _, err := textproto.NewReader(r).ReadMIMEHeader(); err != nil {
				return n, err
			}
			p.over = true
			p.head.close = p.head.close || r.Buffered() > 0
			return n, nil
		}
		if len(p.line) > maxTrailer {
			return n, errTrailer
		}
	}
	return n, nil
}

// end judges a connection that ended: nil where the answer is whole.
func (p *parser) end() error {
	if p.over || p.began && p.head.framing == byClose {
		return nil
	}
	if !p.began && len(p.line) > 0 {
		var h head
		if err := h.parse(p.line); err != nil {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}
