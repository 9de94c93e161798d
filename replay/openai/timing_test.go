package openai

import (
	"net/http"
	"testing"

	"reprise/replay"
)

func TestTimingHeaders(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        int64 // µs, -1 absent
	}{
		{"Openai-Processing-Ms", "41", 41_000}, {"X-Envoy-Upstream-Service-Time", "7", 7000}, {"X-Total-Time", "12.5", 12_500},
		{"Fireworks-Server-Processing-Time", "0.044", 44_000}, {"X-Kong-Upstream-Latency", "3", 3000},
		// Examples of the W3C's text.
		{"Server-Timing", `miss, db;dur=53, app;dur=47.2`, 53_000}, {"Server-Timing", `total;dur=123.4, db;dur=300`, 123_400},
		{"Server-Timing", `cache;desc="Cache Read";dur="23.2"`, 23_200}, {"Server-Timing", `dc;desc="atl"`, -1},
		{"Server-Timing", "total;dur=-1", -1}, {"Server-Timing", "total;dur=NaN", -1}, {"Openai-Processing-Ms", "x", -1},
	} {
		var from told
		if got := from.serverTime(http.Header{c.name: {c.value}}); got.Or(-1) != c.want {
			t.Errorf("%s: %s is %d µs, want %d", c.name, c.value, got.Or(-1), c.want)
		}
	}
	for _, name := range idHeaders() {
		var from told
		if got := from.requestID(http.Header{name: {"r\n1"}}, nil); got != "r 1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What the API itself says goes before what stands in front of it, a value that
// does not read is passed over, and the client tells which headers it took.
func TestWhoTold(t *testing.T) {
	c := &Client{}
	if got := c.Told(); got != (replay.Told{}) {
		t.Errorf("nothing came: %+v", got)
	}
	front := http.Header{"Cf-Ray": {"8f"}, "X-Envoy-Upstream-Service-Time": {"90"}, "Server-Timing": {"cfEdge;dur=4, cfOrigin;dur=80"}}
	for _, h := range []struct {
		more http.Header
		id   string
		us   int64
	}{
		{nil, "8f", 80_000},
		{http.Header{"X-Request-Id": {"req_1"}, "Openai-Processing-Ms": {"71"}}, "req_1", 71_000},
		{http.Header{"Request-Id": {"req_2"}, "Openai-Processing-Ms": {"soon"}}, "req_2", 80_000},
	} {
		all := front.Clone()
		for k, v := range h.more {
			all[k] = v
		}
		if id, us := c.told.requestID(all, nil), c.told.serverTime(all); id != h.id || us.V != h.us {
			t.Errorf("%v: %q and %d µs", h.more, id, us.V)
		}
	}
	if got := c.Told(); got != (replay.Told{RequestID: "x-request-id, request-id, cf-ray", ServerTime: "openai-processing-ms, server-timing"}) {
		t.Errorf("%+v", got)
	}
}

// Without a header the id is the answer's own, streamed or not; a header goes
// before it.
func TestIDOfTheAnswer(t *testing.T) {
	const event = `data: {"id":"chatcmpl-7","choices":[{"delta":{"content":"x","tool_calls":[{"id":"call_1"}]}}]}` + "\n\n"
	named := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "req_9")
			h(w, r)
		}
	}
	for _, c := range []struct {
		h        http.HandlerFunc
		id, from string
	}{
		{flushed(event, event, done), "chatcmpl-7", "id of the answer"},
		{named(flushed(event, done)), "req_9", "x-request-id"},
		{status(200, `{"choices":[{"message":{"content":"x"}}],"id":"chatcmpl-8"}`), "chatcmpl-8", "id of the answer"},
		{flushed(hello, done), "", ""},
	} {
		cl := client(t, start(t, c.h), nil)
		if r := sendCtx(t.Context(), t, cl); r.ServerRequestID != c.id || cl.Told().RequestID != c.from {
			t.Errorf("id %q from %q, want %q from %q", r.ServerRequestID, cl.Told().RequestID, c.id, c.from)
		}
	}
}
