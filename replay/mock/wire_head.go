package mock

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Limits of a request head. All but maxHead are generous for any client.
const (
	maxHead   = 64 << 10 // bytes, request line included
	maxLine   = 16 << 10 // bytes of the request line
	maxFields = 256
)

// wireError is a request that is refused before it is routed. The connection
// ends after it, since what follows cannot be told apart.
type wireError struct {
	status int
	reason string
}

func (e *wireError) Error() string { return e.reason }

func malformed(reason string) *wireError { return &wireError{http.StatusBadRequest, reason} }

// head is a parsed request line and its headers (RFC 9112).
type head struct {
	method  string
	path    string // decoded, without the query
	minor   int    // of HTTP/1.x
	length  int64  // Content-Length; -1 for none
	chunked bool
	close   bool // the client asks to end the connection, or is of HTTP/1.0
	expect  bool // 100-continue
	auth    string
	gzip    bool // the client accepts it
	hosts   int
	size    int      // bytes of it all
	names   []string // of the headers, in order; only when asked for
}

// parseHead reads a head from the front of b. It returns how many bytes that
// takes, 0 when the head is not yet complete, or what is wrong with it. It is
// strict: no bare line feeds, no folding, no two ways to frame a body.
func parseHead(b []byte, h *head, names bool) (int, *wireError) {
	*h = head{length: -1}
	skip := 0
	if bytes.HasPrefix(b, []byte("\r\n")) { // RFC 9112 §2.2: one empty line may come first
		skip = 2
	}
	end := bytes.Index(b[skip:], []byte("\r\n\r\n"))
	if end < 0 {
		return 0, incomplete(b[skip:])
	}
	end += skip
	if end > maxHead {
		return 0, &wireError{http.StatusRequestHeaderFieldsTooLarge, "the headers are too large"}
	}
	line, rest, _ := bytes.Cut(b[skip:end], []byte("\r\n"))
	if err := h.requestLine(line); err != nil {
		return 0, err
	}
	for n := 0; len(rest) > 0; n++ {
		if n == maxFields {
			return 0, &wireError{http.StatusRequestHeaderFieldsTooLarge, "too many headers"}
		}
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if err := h.field(line, names); err != nil {
			return 0, err
		}
	}
	h.size = end + 4
	return h.size, h.check()
}

// incomplete tells whether more bytes can make a head of b.
func incomplete(b []byte) *wireError {
	line := bytes.IndexByte(b, '\n')
	switch {
	case line < 0 && len(b) > maxLine:
		return &wireError{http.StatusRequestURITooLong, "the request line is too long"}
	case len(b) > maxHead:
		return &wireError{http.StatusRequestHeaderFieldsTooLarge, "the headers are too large"}
	case line >= 0 && (line == 0 || b[line-1] != '\r'):
		return malformed("a line does not end in CRLF")
	}
	return nil
}

func (h *head) requestLine(line []byte) *wireError {
	if len(line) > maxLine {
		return &wireError{http.StatusRequestURITooLong, "the request line is too long"}
	}
	method, rest, ok := strings.Cut(string(line), " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !isToken(method) || target == "" {
		return malformed("the request line is malformed")
	}
	switch version {
	case "HTTP/1.1":
		h.minor = 1
	case "HTTP/1.0":
		h.close = true
	default:
		if len(version) == 8 && strings.HasPrefix(version, "HTTP/") {
			return &wireError{http.StatusHTTPVersionNotSupported, "only HTTP/1.0 and HTTP/1.1 are served here"}
		}
		return malformed("the request line is malformed")
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] >= 0x7f {
			return malformed("the request target is malformed")
		}
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return malformed("the request target is malformed")
	}
	h.method, h.path = method, u.Path
	return nil
}

// field reads one header line.
func (h *head) field(line []byte, names bool) *wireError {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(name) {
		return malformed("a header name is malformed")
	}
	value = bytes.Trim(value, " \t")
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return malformed("a header value is malformed")
		}
	}
	if names {
		h.names = append(h.names, string(name))
	}
	switch len(name) { // a cheap first look, as most headers are of no interest
	case 4:
		if bytes.EqualFold(name, []byte("host")) {
			h.hosts++
		}
	case 6:
		if bytes.EqualFold(name, []byte("expect")) {
			return h.expects(value)
		}
	case 10:
		if bytes.EqualFold(name, []byte("connection")) {
			h.connection(string(value))
		}
	case 13:
		if bytes.EqualFold(name, []byte("authorization")) && h.auth == "" {
			h.auth = string(value)
		}
	case 14:
		if bytes.EqualFold(name, []byte("content-length")) {
			return h.contentLength(value)
		}
	case 15:
		if bytes.EqualFold(name, []byte("accept-encoding")) {
			h.gzip = h.gzip || bytes.Contains(value, []byte("gzip"))
		}
	case 17:
		if bytes.EqualFold(name, []byte("transfer-encoding")) {
			return h.transferEncoding(value)
		}
	}
	return nil
}

func (h *head) expects(value []byte) *wireError {
	if !bytes.EqualFold(value, []byte("100-continue")) {
		return &wireError{http.StatusExpectationFailed, "only 100-continue can be expected"}
	}
	h.expect = true
	return nil
}

// connection looks for the option close. HTTP/1.0 ends its connections anyway:
// keep-alive there is an extension that no client of this API needs.
func (h *head) connection(value string) {
	for option := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.Trim(option, " \t"), "close") {
			h.close = true
		}
	}
}

func (h *head) contentLength(value []byte) *wireError {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' || n > 1<<56 {
			return malformed("Content-Length is not a length")
		}
		n = n*10 + int64(c-'0')
	}
	if len(value) == 0 || h.length >= 0 && h.length != n {
		return malformed("Content-Length is not one length")
	}
	h.length = n
	return nil
}

func (h *head) transferEncoding(value []byte) *wireError {
	if h.chunked {
		return malformed("two transfer encodings")
	}
	if !bytes.EqualFold(value, []byte("chunked")) {
		return &wireError{http.StatusNotImplemented, "the only transfer encoding here is chunked"}
	}
	h.chunked = true
	return nil
}

// check looks at what takes all headers to tell.
func (h *head) check() *wireError {
	switch {
	case h.hosts > 1 || h.hosts == 0 && h.minor == 1:
		return malformed("there must be one Host header")
	case h.chunked && (h.length >= 0 || h.minor == 0):
		return malformed("the body is framed in two ways")
	}
	return nil
}

// hasBody tells whether body bytes follow the head.
func (h *head) hasBody() bool { return h.chunked || h.length > 0 }

// proto is the version as net/http writes it.
func (h *head) proto() string { return "HTTP/1." + strconv.Itoa(h.minor) }

// isToken tells a token of RFC 9110 §5.6.2.
func isToken[T string | []byte](s T) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return len(s) > 0
}
