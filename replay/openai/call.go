package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"reprise/replay"
	"reprise/trace"
)

func some[T any](v T) trace.Opt[T] { return trace.Some(v) }

// call is one rendered request.
type call struct {
	client *Client
	body   []byte
	result replay.Result // what is known before it is sent
	server string        // the Server header, for preflight
	whole  bool          // the answer was one JSON object
	named  string        // the model that the answer names, where asked is set
	asked  bool
}

// watch ends a request by its limits: one timer, first for the first token,
// then for silence.
type watch struct {
	timer   *time.Timer
	idle    time.Duration
	cancel  context.CancelCauseFunc
	started chan struct{} // closed at the first token
}

// limits puts the configured limits on ctx.
func (c *Client) limits(ctx context.Context) (context.Context, *watch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{idle: c.cfg.Idle, cancel: cancel, started: make(chan struct{})}
	w.timer = time.AfterFunc(forever(c.cfg.FirstToken), func() {
		select {
		case <-w.started:
			cancel(errIdle)
		default:
			cancel(errFirstToken)
		}
	})
	total := time.AfterFunc(forever(c.cfg.Total), func() { cancel(errTotal) })
	return ctx, w, func() {
		w.timer.Stop()
		total.Stop()
		cancel(nil)
	}
}

func forever(d time.Duration) time.Duration {
	if d < 0 {
		return 1 << 62
	}
	return d
}

// read tells the watch that bytes came; token that the first token is there.
func (w *watch) read(token bool) {
	select {
	case <-w.started:
		w.timer.Reset(forever(w.idle))
		return
	default:
	}
	if token {
		close(w.started)
		w.timer.Reset(forever(w.idle))
	}
}

// Send sends the request once and reads its answer to the end.
func (k *call) Send(ctx context.Context, f *replay.Flight) (r replay.Result) {
	c := k.client
	r = k.result
	defer func() { r.Reason = c.blot(r.Reason) }()
	t := &trip{flight: f, shift: int64(c.base.Sub(f.At(0))), small: len(k.body) < writeBuffer/2}
	ctx, w, release := c.limits(ctx)
	defer release()
	resp, err := c.transport.RoundTrip(k.request(httptrace.WithClientTrace(ctx, t.hooks())))
	t.into(&r)
	if err != nil {
		r.End = some(f.Now())
		fa, ended := endedBy(ctx)
		if !ended {
			fa = transportFault(err, c.target.post.Host, r.ConnReady.OK, t.handshakeBroken())
		}
		r.Class, r.Reason, r.Hopeless = fa.class, fa.reason, fa.hopeless
		return r
	}
	defer resp.Body.Close()
	k.headers(&r, resp)
	if resp.StatusCode != http.StatusOK {
		k.refused(ctx, &r, resp, f)
		t.into(&r)
		return r
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		r.Class, r.Reason, r.Hopeless = replay.StreamError, "the answer is compressed ("+printable(e)+") though that was not asked for", true
		r.End = some(f.Now())
		return r
	}
	k.read(ctx, &r, resp.Body, t, w)
	// The last bytes of a long body may leave after the answer has begun.
	t.into(&r)
	return r
}

// request builds the HTTP request. It has no GetBody, so that the transport
// cannot send it a second time.
func (k *call) request(ctx context.Context) *http.Request {
	req := &http.Request{Method: http.MethodPost, URL: k.client.target.post, Host: k.client.target.post.Host, Header: k.client.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body))}
	return req.WithContext(ctx)
}

func (t *trip) handshakeBroken() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tlsFailed || t.tlsRunning
}

func (k *call) headers(r *replay.Result, resp *http.Response) {
	r.HTTP = some(int16(min(resp.StatusCode, 999)))
	r.RetryAfterMS = retryAfter(resp.Header, time.Now())
	r.ServerTime = serverTime(resp.Header)
	r.ServerRequestID = printable(resp.Header.Get("X-Request-Id"))
	k.server = printable(resp.Header.Get("Server"))
}

// printable bounds a header that goes into an artifact.
func printable(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToValidUTF8(oneLine(s), "?")
}

// refused reads an answer that is not a success.
func (k *call) refused(ctx context.Context, r *replay.Result, resp *http.Response, f *replay.Flight) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	r.End = some(f.Now())
	fa, ended := endedBy(ctx)
	if !ended {
		fa = statusFault(resp.StatusCode, k.message(body))
	}
	r.Class, r.Reason, r.Hopeless = fa.class, fa.reason, fa.hopeless
}

// message returns what the body of a refusal says, with the key blotted out:
// some servers quote it.
func (k *call) message(body []byte) string {
	say := ""
	if sniff(body) == page {
		return "an HTML page"
	}
	if gjson.ValidBytes(body) {
		say = errorMessage(gjson.ParseBytes(body))
	} else {
		say = string(body)
	}
	return k.client.blot(say)
}

// blot takes the key and the values of the headers out of what a server says.
func (c *Client) blot(say string) string {
	if c.cfg.Key != "" {
		say = strings.ReplaceAll(say, c.cfg.Key, "***")
	}
	for _, values := range c.cfg.Headers {
		for _, v := range values {
			if len(v) >= 4 {
				say = strings.ReplaceAll(say, v, "***")
			}
		}
	}
	return say
}

// read reads the body of a success. After [DONE] it waits a moment for the
// body's end, so that the connection can be used again.
func (k *call) read(ctx context.Context, r *replay.Result, body io.Reader, t *trip, w *watch) {
	a := newAnswer(r)
	a.naming = k.asked
	buf := k.client.buffers.Get().(*[]byte)
	defer k.client.buffers.Put(buf)
	for {
		n, err := body.Read(*buf)
		if n > 0 {
			done, fields := a.done, a.sse.fields
			a.push((*buf)[:n], t.readAt())
			if !a.done {
				// A comment keeps a connection open and is no progress.
				if a.form != stream || a.sse.fields > fields || a.sse.unfinished() {
					w.read(r.FirstContent.OK)
				}
			} else if !done {
				w.timer.Reset(time.Second)
			}
		}
		if err == nil {
			continue
		}
		whole := errors.Is(err, io.EOF)
		a.end(whole, t.flight.Now())
		k.whole, k.named = a.form == object, a.model
		if fa, ended := endedBy(ctx); ended && r.Class == replay.Truncated {
			r.Class, r.Reason = fa.class, fa.reason
		}
		return
	}
}
