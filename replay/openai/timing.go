package openai

import (
	"strconv"
	"strings"
	"sync/atomic"

	"reprise/replay"
	"reprise/trace"
)

// idHeaders name a request to its server's operator, in the order in which they
// are taken: first what the API itself says (OpenAI, vLLM and most; Anthropic;
// Mistral; Azure; AWS; Baseten; NVIDIA), then what stands in front of it (Kong,
// Cloudflare). Without any of them the id in the answer's body is taken.
func idHeaders() [10]string {
	return [...]string{"X-Request-Id", "Request-Id", "Mistral-Correlation-Id", "Apim-Request-Id", "X-Ms-Request-Id",
		"X-Amzn-Requestid", "X-Baseten-Request-Id", "Nvcf-Reqid", "X-Kong-Request-Id", "Cf-Ray"}
}

// timeHeader states how long the server took.
type timeHeader struct {
	name string
	read func(value string) trace.Opt[int64] // µs
}

// timeHeaders are taken in this order: what the API itself says (OpenAI and
// Azure; TGI; Fireworks, in seconds), then Server-Timing, then what the proxy in
// front of it waited (Kong, Envoy). A stream's header leaves before its answer is
// whole, so on most servers this is the time to the first token.
func timeHeaders() [6]timeHeader {
	return [...]timeHeader{
		{"Openai-Processing-Ms", milliseconds}, {"X-Total-Time", milliseconds}, {"Fireworks-Server-Processing-Time", seconds},
		{"Server-Timing", serverTiming}, {"X-Kong-Upstream-Latency", milliseconds}, {"X-Envoy-Upstream-Service-Time", milliseconds},
	}
}

// told notes which headers were taken, a bit for each.
type told struct{ ids, times atomic.Uint32 }

// note sets a bit; nearly always it is set already.
func note(bits *atomic.Uint32, i int) {
	if bit := uint32(1) << i; bits.Load()&bit == 0 {
		bits.Or(bit)
	}
}

// requestID returns the name that the server gave the request.
func (t *told) requestID(h fields, s secrets) string {
	for i, name := range idHeaders() {
		if v := h.Get(name); v != "" {
			note(&t.ids, i)
			return printable(s.blot(v))
		}
	}
	return ""
}

// serverTime returns what the server says it took, µs.
func (t *told) serverTime(h fields) trace.Opt[int64] {
	for i, from := range timeHeaders() {
		if v := h.Get(from.name); v != "" {
			if us := from.read(v); us.OK {
				note(&t.times, i)
				return us
			}
		}
	}
	return trace.Opt[int64]{}
}

// Told says which headers the columns server_request_id and server_time_us are
// from, for run.json.
func (c *Client) Told() replay.Told {
	var ids, times []string
	for i, name := range idHeaders() {
		if c.told.ids.Load()>>i&1 == 1 {
			ids = append(ids, strings.ToLower(name))
		}
	}
	if c.told.ids.Load()>>len(idHeaders())&1 == 1 {
		ids = append(ids, "id of the answer")
	}
	for i, from := range timeHeaders() {
		if c.told.times.Load()>>i&1 == 1 {
			times = append(times, strings.ToLower(from.name))
		}
	}
	return replay.Told{RequestID: strings.Join(ids, ", "), ServerTime: strings.Join(times, ", ")}
}

func milliseconds(v string) trace.Opt[int64] { return span64(v, 1e3) }

func seconds(v string) trace.Opt[int64] { return span64(v, 1e6) }

// span64 reads a decimal number of units, in µs.
func span64(v string, unit float64) trace.Opt[int64] {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(n >= 0 && n < 1e9) {
		return trace.Opt[int64]{}
	}
	return trace.Some(int64(n * unit))
}

// serverTiming reads a Server-Timing header (W3C, Server Timing): the duration
// of its metric "total", else the longest, in µs.
func serverTiming(header string) (us trace.Opt[int64]) {
	total := trace.Opt[int64]{}
	eachTiming(header, func(metric string, took trace.Opt[int64]) {
		if took.OK && strings.EqualFold(metric, "total") && !total.OK {
			total = took
		}
		if took.OK {
			us = trace.Some(max(us.V, took.V))
		}
	})
	if total.OK {
		return total
	}
	return us
}
