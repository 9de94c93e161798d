package report

import "reprise/replay"

// noteProtocol says what HTTP/2 does to the stamps (see replay.HTTP2).
func noteProtocol(add func(bool, string, ...any), e *replay.Endpoint) {
	for _, s := range e.Spoken {
		add(s.Protocol == replay.HTTP2, "%s went by HTTP/2, where requests share a connection: an answer may wait for the bytes of another, and its stamps come some tenths of a millisecond later than by HTTP/1.1. Compare such runs with others of the same protocol (engine raw speaks HTTP/1.1).",
			plural(s.N, "request"))
	}
}
