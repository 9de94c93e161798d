package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"reprise/replay"
)

// netEngine sends by net/http: for HTTP/2, proxies, and servers that are odd in
// ways that only it bears. Under HTTP/2 many requests share a connection: the end
// of a request's writing is told in sharing, the first byte is the read that brought
// its header, and the stamp of an event the connection's last read, which may have
// brought a later frame of another stream.
type netEngine struct {
	client    *Client
	transport *http.Transport
	second    atomic.Bool     // the endpoint speaks HTTP/2
	anew      *http.Transport // opens a connection for each request; nil unless requests may be sent again
}

// writeBuffer is what the transport writes at once.
const writeBuffer = 32 << 10

func newNetEngine(c *Client) *netEngine {
	e := &netEngine{client: c}
	dial := capped(c.dialer(), c.cfg.Dials)
	protocols := &http.Protocols{}
	protocols.SetHTTP1(c.cfg.Wire.HTTP2 != H2C)
	protocols.SetHTTP2(c.cfg.Wire.HTTP2 == Auto)
	protocols.SetUnencryptedHTTP2(c.cfg.Wire.HTTP2 == H2C)
	e.transport = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return newTap(conn, c.stamps), nil
		},
		Proxy:                  c.cfg.Wire.Proxy,
		OnProxyConnectResponse: tunnel,
		TLSClientConfig:        c.cfg.TLS.Clone(), // the transport writes HTTP/2 into it
		TLSHandshakeTimeout:    c.cfg.Connect,
		DisableCompression:     true,
		DisableKeepAlives:      c.cfg.Wire.NewConns,
		MaxIdleConns:           0,
		// An answer's header has a few hundred bytes; the default takes 10 MB.
		MaxResponseHeaderBytes: maxHead,
		MaxIdleConnsPerHost:    1 << 20,
		IdleConnTimeout:        c.cfg.IdleConns,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
		Protocols:              protocols,
	}
	if c.cfg.Wire.Resend {
		e.anew = e.transport.Clone()
		e.anew.DisableKeepAlives = true
	}
	return e
}

func (e *netEngine) close() { e.transport.CloseIdleConnections() }

// by is the transport of a query.
func (e *netEngine) by(q *query) *http.Transport {
	if q.anew {
		return e.anew
	}
	return e.transport
}

// tapOf finds the tap under a connection, nil when there is none.
func tapOf(c net.Conn) *tap {
	for { // TLS within TLS, through a proxy that is spoken to by it
		t, ok := c.(*tls.Conn)
		if !ok {
			break
		}
		c = t.NetConn()
	}
	s, _ := c.(*tap)
	return s
}

// watch ends a request by its limits: one timer, first for the first token,
// then for silence.
type watch struct {
	mu     sync.Mutex
	timer  *time.Timer
	stay   patience
	clock  *stamps
	cancel context.CancelCauseFunc
}

// watch puts the limits of a request on ctx.
func (e *netEngine) watch(ctx context.Context, l limits) (context.Context, *watch, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	clock := e.client.stamps
	w := &watch{clock: clock, cancel: cancel, stay: patience{limits: l, start: clock.now()}}
	w.mu.Lock()
	defer w.mu.Unlock()
	at, _ := w.stay.due()
	w.timer = time.AfterFunc(time.Duration(at-w.stay.start), w.expire)
	return ctx, w, func() {
		w.mu.Lock()
		w.timer.Stop()
		w.mu.Unlock()
		cancel(nil)
	}
}

// expire cancels the request, unless its limit has moved on.
func (w *watch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, why := w.stay.due()
	if left := at - w.clock.now(); left > 0 {
		w.timer.Reset(time.Duration(left))
		return
	}
	w.cancel(why)
}

// take notes what bytes meant.
func (w *watch) take(what progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, _ := w.stay.due()
	w.stay.take(what, w.clock.now())
	if at, _ := w.stay.due(); at < before {
		w.timer.Reset(time.Duration(at - w.clock.now()))
	}
}

func (e *netEngine) exchange(ctx context.Context, q *query, rc receiver) error {
	ctx, w, release := e.watch(ctx, q.limits)
	defer release()
	for {
		t := &trip{size: len(q.body()), flight: q.flight, shift: e.client.shift(q.flight), h2c: e.client.cfg.Wire.HTTP2 == H2C}
		err := e.attempt(ctx, q, t, w, rc)
		q.seen = t.passage()
		if q.seen.protocol == replay.HTTP2 {
			e.second.Store(true)
			t.leave()
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return ended(context.Cause(ctx))
		case err != nil && t.spent: // not sent a second time: it was not sent at all
			continue
		}
		p := &q.seen
		p.stale = err != nil && p.reused.V && !p.firstByte.OK
		return err
	}
}

// attempt sends a request over the connection that the transport has for it.
func (e *netEngine) attempt(ctx context.Context, q *query, t *trip, w *watch, rc receiver) error {
	resp, err := e.by(q).RoundTrip(e.request(httptrace.WithClientTrace(ctx, t.hooks()), q, t))
	if err != nil {
		return err
	}
	// The last bytes of a long body may leave after the answer has begun.
	defer resp.Body.Close()
	return e.receive(resp, t, w, rc)
}

// ended is the cause of a request's end: one of its limits, or a cancel.
func ended(cause error) error {
	for _, err := range []error{errFirstToken, errIdle, errTotal, errLinger} {
		if errors.Is(cause, err) {
			return err
		}
	}
	return errCancelled
}

// request builds the HTTP request. It has no GetBody, so that the transport
// cannot send it a second time.
func (e *netEngine) request(ctx context.Context, q *query, t *trip) *http.Request {
	c := e.client
	r := &http.Request{Method: http.MethodPost, URL: c.target.post, Host: c.host(), Header: c.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if q.get {
		r.Method, r.URL = http.MethodGet, c.target.models
	} else {
		body := bytes.NewReader(q.body())
		if r.Body, r.ContentLength = io.NopCloser(body), body.Size(); e.second.Load() {
			r.Body = &outgoing{body, t} // under HTTP/1.1 it would have the header flushed by itself
		}
	}
	return r.WithContext(ctx)
}

// receive hands an answer on until it ends.
func (e *netEngine) receive(resp *http.Response, t *trip, w *watch, rc receiver) error {
	if !rc.head(resp.StatusCode, resp.Header) || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil // after 101 the connection is the reader's, and no limit ends a read
	}
	buf := e.client.stamps.buffers.Get().(*[]byte)
	defer e.client.stamps.buffers.Put(buf)
	for left := resp.ContentLength; ; { // negative: not stated
		n, err := resp.Body.Read(*buf)
		left -= int64(n)
		if n > 0 {
			what := rc.body((*buf)[:n], t.readAt())
			if what == enough {
				return nil
			}
			w.take(what)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if left == 0 && t.unwritten() {
			return nil // the transport would tell the end 50 ms late
		}
	}
}

// connect opens connections by asking for the list of models over each at the
// same time: the transport opens none for nothing.
func (e *netEngine) connect(ctx context.Context, n int) int {
	var here, done sync.WaitGroup
	var mu sync.Mutex
	opened := 0
	here.Add(n)
	for range n {
		done.Go(func() {
			var once sync.Once
			defer once.Do(here.Done)
			// Holding each connection until all are there keeps one from
			// serving two.
			hook := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
				once.Do(here.Done)
				here.Wait()
				mu.Lock()
				opened++
				mu.Unlock()
			}}
			resp, err := e.transport.RoundTrip(e.request(httptrace.WithClientTrace(ctx, hook), &query{get: true}, nil))
			if err == nil {
				io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<20))
				resp.Body.Close()
			}
		})
	}
	done.Wait()
	return opened
}
