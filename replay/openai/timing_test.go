package openai

import (
	"net/http"
	"testing"
)

func TestTimingHeaders(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        int64 // µs, -1 absent
	}{
		{"Openai-Processing-Ms", "41", 41_000}, {"X-Envoy-Upstream-Service-Time", "7", 7000}, {"X-Total-Time", "12.5", 12_500},
		// Examples of the W3C's text.
		{"Server-Timing", `miss, db;dur=53, app;dur=47.2`, 53_000}, {"Server-Timing", `total;dur=123.4, db;dur=300`, 123_400},
		{"Server-Timing", `cache;desc="Cache Read";dur="23.2"`, 23_200}, {"Server-Timing", `dc;desc="atl"`, -1},
		{"Server-Timing", "total;dur=-1", -1}, {"Server-Timing", "total;dur=NaN", -1}, {"Openai-Processing-Ms", "x", -1},
	} {
		if got := serverTime(http.Header{c.name: {c.value}}); got.Or(-1) != c.want {
			t.Errorf("%s: %s is %d µs, want %d", c.name, c.value, got.Or(-1), c.want)
		}
	}
	for name := range map[string]bool{"X-Request-Id": true, "Request-Id": true, "Apim-Request-Id": true, "X-Amzn-Requestid": true} {
		if got := requestID(http.Header{name: {"r\n1"}}); got != "r 1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
