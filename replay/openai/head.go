package openai

import (
	"bufio"
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// fields are the header fields of an answer.
type fields interface{ Get(name string) string }

// lines are header fields as they came.
type lines []byte

// Get returns the value of the first field of that name, "" when there is none.
func (l lines) Get(name string) string {
	for b := []byte(l); len(b) > 0; {
		line, rest, _ := bytes.Cut(b, []byte("\r\n"))
		b = rest
		if len(line) > len(name) && line[len(name)] == ':' && equalFold(line[:len(name)], name) {
			return string(bytes.Trim(line[len(name)+1:], " \t"))
		}
	}
	return ""
}

// equalFold compares ASCII text.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if lower(c) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// framing is how the end of a body is known.
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
	byClose
)

// head is the start of an answer.
type head struct {
	status  int
	fields  fields
	framing framing
	length  int64
	close   bool // the server closes the connection after it
}

// parse reads a whole head: one that is as servers write them by one scan,
// any other by net/http, so that both engines agree on what is odd.
func (h *head) parse(b []byte) error {
	if *h = (head{}); h.scan(b) {
		return nil
	}
	var err error
	aside(func() { err = h.parseOdd(b) })
	return err
}

func (h *head) parseOdd(b []byte) error {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
	if err != nil {
		return err
	}
	*h = head{status: resp.StatusCode, fields: resp.Header, close: resp.Close, length: resp.ContentLength}
	switch {
	case !bodyAllowed(resp.StatusCode):
	case slices.Contains(resp.TransferEncoding, "chunked"):
		h.framing = byChunks
	case resp.ContentLength >= 0:
		h.framing = byLength
	default:
		h.framing = byClose
	}
	return nil
}

func bodyAllowed(status int) bool { return status/100 != 1 && status != 204 && status != 304 }

// scan reads a head whose lines end in CRLF, whose names are tokens, and
// which says at most once, and plainly, how the body ends. It is sure only of
// such.
func (h *head) scan(b []byte) (sure bool) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) < 12 || line[8] != ' ' || len(line) > 12 && line[12] != ' ' || !text(line) {
		return false
	}
	old := false
	switch string(line[:8]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		old = true
	default:
		return false
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return false
		}
		h.status = h.status*10 + int(c-'0')
	}
	h.fields, h.framing, h.close = lines(rest), byClose, old
	return h.scanFields(rest, old)
}

// scanFields reads the lines after the first.
func (h *head) scanFields(b []byte, old bool) (sure bool) {
	length, coded, connection := false, false, false
	for {
		line, rest, ok := bytes.Cut(b, []byte("\r\n"))
		if !ok {
			return false
		}
		if b = rest; len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !token(name) || !text(value) {
			return false
		}
		value = bytes.Trim(value, " \t")
		switch {
		case equalFold(name, "Content-Length"):
			n, err := strconv.ParseUint(string(value), 10, 63)
			if err != nil || length {
				return false
			}
			length, h.length = true, int64(n)
		case equalFold(name, "Transfer-Encoding"):
			if coded || old || !equalFold(value, "chunked") {
				return false
			}
			coded = true
		case equalFold(name, "Connection"):
			if connection || !equalFold(value, "close") && !equalFold(value, "keep-alive") {
				return false
			}
			connection, h.close = true, equalFold(value, "close")
		case equalFold(name, "Trailer"):
			return false
		}
	}
	h.settle(length, coded)
	return len(b) == 0
}

// settle says how the body ends.
func (h *head) settle(length, coded bool) {
	switch {
	case !bodyAllowed(h.status):
		h.framing = noBody
	case coded:
		h.framing = byChunks
	case length:
		h.framing = byLength
	default:
		h.close = true
	}
}

// token tells the name of a header field.
func token(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// text tells a value without control characters.
func text(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
