package report

import (
	"strings"
	"testing"

	"reprise/replay"
)

// The report says which protocol was spoken, and what HTTP/2 means for the stamps.
func TestProtocolIsSaid(t *testing.T) {
	rs := []replay.Result{streamed(0, 10_000)}
	for _, c := range []struct {
		spoken []replay.Spoken
		line   string
		note   bool
	}{
		{nil, "", false}, {[]replay.Spoken{{Protocol: replay.HTTP1, N: 1}}, "by HTTP/1.1 (all 1 requests", false},
		{[]replay.Spoken{{Protocol: replay.HTTP1, N: 1}, {Protocol: replay.HTTP2, N: 3}}, "HTTP/2 (3 of 4 requests, 75.0 %)", true},
	} {
		_, text := reportOf(t, &replay.Run{Endpoint: replay.Endpoint{Spoken: c.spoken}}, rs)
		if !strings.Contains(text, c.line) || strings.Contains(text, "went by HTTP/2") != c.note {
			t.Errorf("%v: %s", c.spoken, text)
		}
	}
}
