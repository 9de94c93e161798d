package openai

import (
	"bytes"
	"errors"
)

// maxEvent bounds what one event may hold.
const maxEvent = 16 << 20

var errEventSize = errors.New("an event of the stream is larger than 16 MiB")

// Parser reads server-sent events as the WHATWG HTML standard says (section
// 9.2.6): lines end by CRLF, LF or CR; a byte order mark at the start, comments
// and unknown fields are passed over; data lines of an event are joined by LF.
// Bytes are pushed in as they come, cut anywhere.
//
// An event that lies in one piece is handed on without a copy. Both slices are
// good only during the call.
type Parser struct {
	On func(event, data []byte)
	// Broken, if not nil, sees a field called error: the standard has none, but
	// llama.cpp tells a failure inside a stream that way.
	Broken func(value []byte)

	began  bool   // the byte order mark is behind us
	skipLF bool   // the last byte was the CR that ended a line
	line   []byte // start of a line whose end is yet to come
	event  []byte
	data   []byte
	lent   []byte // data of the first data line, still in the pushed slice
	has    bool   // a data field was seen
	fields int    // lines so far that are neither blank nor a comment
}

// unfinished reports whether a line that is no comment has begun.
func (p *Parser) unfinished() bool { return len(p.line) > 0 && p.line[0] != ':' }

// Push reads the next bytes of the stream.
func (p *Parser) Push(b []byte) error {
	for len(b) > 0 {
		if p.skipLF {
			p.skipLF = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		n := lineEnd(b)
		if n < 0 {
			p.line = append(p.line, b...)
			break
		}
		line := b[:n]
		p.skipLF = b[n] == '\r'
		b = b[n+1:]
		if len(p.line) > 0 {
			// What is kept does not outlive this line, so its fields are copied.
			p.line = append(p.line, line...)
			p.take(p.line)
			p.own()
			p.line = p.line[:0]
			continue
		}
		p.take(line)
	}
	p.own()
	if len(p.line)+len(p.data) > maxEvent {
		return errEventSize
	}
	return nil
}

// lineEnd returns the index of the first CR or LF, -1 when there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// own copies data that still lies in the pushed slice.
func (p *Parser) own() {
	if p.lent != nil {
		p.data = append(p.data, p.lent...)
		p.lent = nil
	}
}

func (p *Parser) take(line []byte) {
	if !p.began {
		p.began = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		p.dispatch()
		return
	}
	if line[0] != ':' {
		p.fields++
	}
	field, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		field, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(field) {
	case "data":
		p.addData(value)
	case "event":
		p.event = append(p.event[:0], value...)
	case "error":
		if p.Broken != nil {
			p.Broken(value)
		}
	}
}

func (p *Parser) addData(value []byte) {
	if !p.has {
		p.has = true
		if p.lent = value; value == nil {
			p.lent = []byte{}
		}
		return
	}
	p.own()
	p.data = append(append(p.data, '\n'), value...)
}

func (p *Parser) dispatch() {
	data := p.data
	if p.lent != nil {
		data = p.lent
	}
	has := p.has
	p.lent, p.data, p.has = nil, p.data[:0], false
	if has {
		p.On(p.event, data)
	}
	p.event = p.event[:0]
}

// Rest returns what of an event has come without the blank line that would
// end it: the data so far, an unfinished data line included. By the standard
// such an event is not one.
func (p *Parser) Rest() (data []byte, pending bool) {
	out := append([]byte(nil), p.data...)
	has := p.has
	if v, ok := bytes.CutPrefix(p.line, []byte("data:")); ok {
		if has {
			out = append(out, '\n')
		}
		out, has = append(out, bytes.TrimPrefix(v, []byte(" "))...), true
	}
	return out, has || (len(p.line) > 0 && p.line[0] != ':')
}
