package wire

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Limits of a request head. All but MaxHead are generous for any client.
const (
	MaxHead   = 64 << 10 // bytes, request line included
	MaxLine   = 16 << 10 // bytes of the request line
	MaxFields = 256      // header lines
)

// Error is a request that is refused before it is routed. The connection
// ends after it, since what follows cannot be told apart.
type Error struct {
	Status int    // of the answer
	Reason string // in words; it quotes nothing of the request
}

// Error is the reason.
func (e *Error) Error() string { return e.Reason }

func malformed(reason string) *Error { return &Error{http.StatusBadRequest, reason} }

// Head is a parsed request line and its headers (RFC 9112).
type Head struct {
	Method  string // as sent
	Path    string // decoded, without the query
	Minor   int    // of HTTP/1.x
	Length  int64  // Content-Length; -1 for none
	Chunked bool   // the body comes in chunks
	Close   bool   // the client asks to end the connection, or is of HTTP/1.0
	Expect  bool   // 100-continue
	Auth    string // the Authorization header
	Gzip    bool   // the client accepts it
	hosts   int
	Size    int      // bytes of it all
	Names   []string // of the headers, in order; only when asked for
}

// ParseHead reads a head from the front of b. It returns how many bytes that
// takes, 0 when the head is not yet complete, or what is wrong with it. It is
// strict: no bare line feeds, no folding, no two ways to frame a body.
func ParseHead(b []byte, h *Head, names bool) (int, *Error) {
	*h = Head{Length: -1}
	skip := 0
	if bytes.HasPrefix(b, []byte("\r\n")) { // RFC 9112 §2.2: one empty line may come first
		skip = 2
	}
	end := bytes.Index(b[skip:], []byte("\r\n\r\n"))
	if end < 0 {
		return 0, incomplete(b[skip:])
	}
	end += skip
	if end > MaxHead {
		return 0, &Error{http.StatusRequestHeaderFieldsTooLarge, "the headers are too large"}
	}
	line, rest, _ := bytes.Cut(b[skip:end], []byte("\r\n"))
	if err := h.requestLine(line); err != nil {
		return 0, err
	}
	for n := 0; len(rest) > 0; n++ {
		if n == MaxFields {
			return 0, &Error{http.StatusRequestHeaderFieldsTooLarge, "too many headers"}
		}
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if err := h.field(line, names); err != nil {
			return 0, err
		}
	}
	h.Size = end + 4
	return h.Size, h.check()
}

// incomplete tells whether more bytes can make a head of b.
func incomplete(b []byte) *Error {
	line := bytes.IndexByte(b, '\n')
	switch {
	case line < 0 && len(b) > MaxLine:
		return &Error{http.StatusRequestURITooLong, "the request line is too long"}
	case len(b) > MaxHead:
		return &Error{http.StatusRequestHeaderFieldsTooLarge, "the headers are too large"}
	case line >= 0 && (line == 0 || b[line-1] != '\r'):
		return malformed("a line does not end in CRLF")
	}
	return nil
}

func (h *Head) requestLine(line []byte) *Error {
	if len(line) > MaxLine {
		return &Error{http.StatusRequestURITooLong, "the request line is too long"}
	}
	method, rest, ok := strings.Cut(string(line), " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !isToken(method) || target == "" {
		return malformed("the request line is malformed")
	}
	switch version {
	case "HTTP/1.1":
		h.Minor = 1
	case "HTTP/1.0":
		h.Close = true
	default:
		if len(version) == 8 && strings.HasPrefix(version, "HTTP/") {
			return &Error{http.StatusHTTPVersionNotSupported, "only HTTP/1.0 and HTTP/1.1 are served here"}
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
	h.Method, h.Path = method, u.Path
	return nil
}

// field reads one header line.
func (h *Head) field(line []byte, names bool) *Error {
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
		h.Names = append(h.Names, string(name))
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
		if bytes.EqualFold(name, []byte("authorization")) && h.Auth == "" {
			h.Auth = string(value)
		}
	case 14:
		if bytes.EqualFold(name, []byte("content-length")) {
			return h.contentLength(value)
		}
	case 15:
		if bytes.EqualFold(name, []byte("accept-encoding")) {
			h.Gzip = h.Gzip || bytes.Contains(value, []byte("gzip"))
		}
	case 17:
		if bytes.EqualFold(name, []byte("transfer-encoding")) {
			return h.transferEncoding(value)
		}
	}
	return nil
}

func (h *Head) expects(value []byte) *Error {
	if !bytes.EqualFold(value, []byte("100-continue")) {
		return &Error{http.StatusExpectationFailed, "only 100-continue can be expected"}
	}
	h.Expect = true
	return nil
}

// connection looks for the option close. HTTP/1.0 ends its connections anyway:
// keep-alive there is an extension that no client of this API needs.
func (h *Head) connection(value string) {
	for option := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.Trim(option, " \t"), "close") {
			h.Close = true
		}
	}
}

func (h *Head) contentLength(value []byte) *Error {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' || n > 1<<56 {
			return malformed("Content-Length is not a length")
		}
		n = n*10 + int64(c-'0')
	}
	if len(value) == 0 || h.Length >= 0 && h.Length != n {
		return malformed("Content-Length is not one length")
	}
	h.Length = n
	return nil
}

func (h *Head) transferEncoding(value []byte) *Error {
	if h.Chunked {
		return malformed("two transfer encodings")
	}
	if !bytes.EqualFold(value, []byte("chunked")) {
		return &Error{http.StatusNotImplemented, "the only transfer encoding here is chunked"}
	}
	h.Chunked = true
	return nil
}

// check looks at what takes all headers to tell.
func (h *Head) check() *Error {
	switch {
	case h.hosts > 1 || h.hosts == 0 && h.Minor == 1:
		return malformed("there must be one Host header")
	case h.Chunked && (h.Length >= 0 || h.Minor == 0):
		return malformed("the body is framed in two ways")
	}
	return nil
}

// HasBody tells whether body bytes follow the head.
func (h *Head) HasBody() bool { return h.Chunked || h.Length > 0 }

// Proto is the version as net/http writes it.
func (h *Head) Proto() string { return "HTTP/1." + strconv.Itoa(h.Minor) }

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
