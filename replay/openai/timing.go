package openai

import (
	"strconv"
	"strings"

	"reprise/trace"
)

// requestID returns the name that the server gave the request, by which its
// operator finds it: of OpenAI and vLLM, Anthropic, Azure, AWS.
func requestID(h fields) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid"} {
		if v := h.Get(name); v != "" {
			return printable(v)
		}
	}
	return ""
}

// serverTime reads what the server says it took, in µs: a provider's header in
// milliseconds (OpenAI; Envoy in front of many; TGI), else Server-Timing.
func serverTime(h fields) trace.Opt[int64] {
	for _, name := range []string{"Openai-Processing-Ms", "X-Envoy-Upstream-Service-Time", "X-Total-Time"} {
		if v, err := strconv.ParseFloat(h.Get(name), 64); err == nil && v >= 0 && v < 1e12 {
			return trace.Some(int64(v * 1000))
		}
	}
	return serverTiming(h.Get("Server-Timing"))
}

// serverTiming reads a Server-Timing header (W3C, Server Timing): the duration
// of its metric "total", else the longest, in µs.
func serverTiming(header string) (us trace.Opt[int64]) {
	for metric := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(metric, ";")
		for param := range strings.SplitSeq(params, ";") {
			k, v, _ := strings.Cut(param, "=")
			if !strings.EqualFold(strings.TrimSpace(k), "dur") {
				continue
			}
			ms, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(v), `"`), 64)
			if err != nil || !(ms >= 0 && ms < 1e12) {
				continue
			}
			if strings.EqualFold(strings.TrimSpace(name), "total") {
				return trace.Some(int64(ms * 1000))
			}
			us = trace.Some(max(us.V, int64(ms*1000)))
		}
	}
	return us
}
