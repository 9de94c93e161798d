package mock

import (
	"net/http"
	"strconv"
	"time"

	"reprise/replay/mock/wire"
)

// appendHead appends a response's status line and headers, without the empty
// line behind them.
func appendHead(dst []byte, status int, header []field, keep bool) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	dst = append(dst, http.StatusText(status)...)
	dst = append(dst, "\r\nDate: "...)
	dst = time.Now().UTC().AppendFormat(dst, http.TimeFormat)
	for _, f := range header {
		dst = append(dst, "\r\n"...)
		dst = append(dst, f.name...)
		dst = append(dst, ": "...)
		dst = append(dst, f.value...)
	}
	if !keep {
		dst = append(dst, "\r\nConnection: close"...)
	}
	return append(dst, "\r\n"...)
}

// render is a whole answer as bytes.
func (c *wireConn) render(a *answer, keep bool) []byte {
	out := appendHead(make([]byte, 0, 512+len(a.body)), a.status, a.header, keep)
	if a.status != http.StatusNoContent {
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(len(a.body)), 10)
		out = append(out, "\r\n"...)
	}
	out = append(out, "\r\n"...)
	if c.head.Method != http.MethodHead {
		out = append(out, a.body...)
	}
	return out
}

// send answers; it reports whether the connection goes on.
func (c *wireConn) send(a *answer, keep bool) bool {
	if !keep {
		return c.last(a)
	}
	c.free = c.h.driver.Now() // before the answer: what comes of it comes later
	return c.out.Write(c.render(a, true), wire.NoDue)
}

// last answers and ends the connection, once the client has had the time to
// read.
func (c *wireConn) last(a *answer) bool {
	if c.out.Write(c.render(a, false), wire.NoDue) {
		c.out.Settle()
		c.linger()
	}
	return false
}

// refuse answers a request that is no HTTP, or none for this server.
func (c *wireConn) refuse(e *wire.Error) bool {
	c.head.Method = ""
	return c.last(textAnswer(e.Status, "text/plain; charset=utf-8", e.Reason+"\n"))
}
