package openai

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"reprise/replay"
	"reprise/trace"
)

// maxStated bounds the names of times that are kept, whatever a server sends.
const maxStated = 24

// stated keeps what servers say they took, by name: server_time_us has room for
// one value a request, and some say several.
type stated struct {
	mu     sync.Mutex
	by     map[string]*replay.Spans
	others map[string]bool // look like times, of a unit that is not known
}

// take notes the times in the header of an answer.
func (s *stated) take(h fields, hide secrets) {
	eachField(h, func(name, value string) {
		for _, from := range timeHeaders() {
			if name == strings.ToLower(from.name) && name != "server-timing" {
				s.add(name, from.read(value))
				return
			}
		}
		switch {
		case name == "server-timing":
			eachTiming(value, func(metric string, took trace.Opt[int64]) { s.add(name+" "+printable(hide.blot(metric)), took) })
		case slices.Contains(tgiTimes(), name):
			s.add(name, milliseconds(value))
		case looksTimed(name, value):
			s.other(hide.blot(name))
		}
	})
}

// tgiTimes are TGI's further headers, ms (its router, server.rs).
func tgiTimes() []string {
	return []string{"x-validation-time", "x-queue-time", "x-inference-time", "x-time-per-token"}
}

// looksTimed tells a header that is likely to be a time: a number, or a few of
// them, under such a name.
func looksTimed(name, value string) bool {
	if name == "date" || strings.HasPrefix(name, "x-mock-") || strings.HasPrefix(name, "x-ratelimit") || strings.HasPrefix(name, "retry-after") || strings.HasPrefix(name, "timing-allow") {
		return false
	}
	if strings.IndexFunc(value, func(c rune) bool { return c >= '0' && c <= '9' }) < 0 {
		return false
	}
	for _, part := range []string{"timing", "latency", "duration", "processing", "elapsed"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	// Azure's x-ms-… and a timeout are none.
	return strings.HasSuffix(name, "-ms") || strings.HasSuffix(name, "-time") || strings.Contains(name, "-time-")
}

func (s *stated) add(name string, us trace.Opt[int64]) {
	if !us.OK {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	spans := s.by[name]
	if spans == nil {
		if len(s.by) == maxStated {
			return
		}
		if s.by == nil {
			s.by = map[string]*replay.Spans{}
		}
		spans = new(replay.Spans)
		s.by[name] = spans
	}
	spans.Add(us.V * 1000)
}

func (s *stated) other(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others = map[string]bool{}
	}
	if len(s.others) < maxStated {
		s.others[printable(name)] = true
	}
}

// Stated returns the times by name, and the names of headers that look like times
// and whose unit is not known.
func (c *Client) Stated() (times []replay.Stated, others []string) {
	s := &c.stated
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.by)) {
		n := s.by[name].Count()
		times = append(times, replay.Stated{Name: name, N: n.N(), P50MS: float64(n.Quantile(0.50)/1000) / 1000, P99MS: float64(n.Quantile(0.99)/1000) / 1000})
	}
	return times, slices.Sorted(maps.Keys(s.others))
}

// eachField calls on for the fields of a header, names in lower case.
func eachField(h fields, on func(name, value string)) {
	switch h := h.(type) {
	case http.Header:
		for name, values := range h {
			for _, v := range values {
				on(strings.ToLower(name), v)
			}
		}
	case lines:
		for line := range bytes.SplitSeq(h, []byte("\r\n")) {
			if name, value, ok := bytes.Cut(line, []byte{':'}); ok {
				on(strings.ToLower(string(name)), string(bytes.Trim(value, " \t")))
			}
		}
	}
}

// eachTiming calls on for the metrics of a Server-Timing header that have a
// duration, µs.
func eachTiming(header string, on func(metric string, took trace.Opt[int64])) {
	for metric := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(metric, ";")
		for param := range strings.SplitSeq(params, ";") {
			k, v, _ := strings.Cut(param, "=")
			if strings.EqualFold(strings.TrimSpace(k), "dur") {
				on(strings.TrimSpace(name), milliseconds(strings.Trim(strings.TrimSpace(v), `"`)))
			}
		}
	}
}
