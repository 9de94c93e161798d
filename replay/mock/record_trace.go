package mock

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"reprise/replay/mock/engine"
	"reprise/trace"
)

// Arrival is what a recording mock keeps of a request besides its row in the
// trace of Recording, to which ID refers.
type Arrival struct {
	ID        int64    `json:"id"`
	UnixNS    int64    `json:"unix_ns"` // when the first bytes came
	Stamp     string   `json:"stamp"`   // kernel: its receive stamp; user: when the server had read them
	Conn      int64    `json:"conn"`    // number of the connection, from 1
	Reused    int      `json:"reused"`  // requests on it before this one
	Early     bool     `json:"early"`   // came before the last answer on the connection had ended
	Proto     string   `json:"proto"`
	HeadBytes int      `json:"head_bytes"` // 0 where net/http serves, which does not tell
	BodyBytes int      `json:"body_bytes"`
	Headers   []string `json:"headers"` // names, in order; sorted where net/http serves
}

// sorted returns the arrivals in order of time; mu is held.
func (r *recording) sorted() []*arrival {
	return slices.SortedStableFunc(slices.Values(r.arrivals), func(a, b *arrival) int { return cmp.Compare(a.arrived, b.arrived) })
}

// list returns the facts of the connections in order of arrival.
func (r *recording) list() []Arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Arrival, 0, len(r.arrivals))
	for i, a := range r.sorted() {
		stamp := "user"
		if a.kernel {
			stamp = "kernel"
		}
		out = append(out, Arrival{
			ID: int64(i), UnixNS: a.at.UnixNano(), Stamp: stamp, Conn: a.conn, Reused: a.nth, Early: a.early,
			Proto: a.proto, HeadBytes: a.head, BodyBytes: a.body, Headers: a.names,
		})
	}
	return out
}

// trace returns the requests as a trace that begins with the first arrival.
func (r *recording) trace(model string, counter Counter) *trace.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &trace.Trace{Header: trace.Header{
		Kind: trace.Kind, Version: trace.Version, BlockTokens: engine.BlockTokens, Tail: trace.TailFresh,
		Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}, Profile: "exact",
	}}
	if n, ok := counter.(interface{ Name() string }); ok {
		t.Header.Tokenizer.Name = n.Name()
	}
	if s, ok := counter.(interface{ SHA256() string }); ok {
		t.Header.Tokenizer.SHA256 = s.SHA256()
	}
	blocks := numbering{ids: map[uint64]int32{}}
	for i, a := range r.sorted() {
		t.Requests = append(t.Requests, a.request(int64(i), model, &blocks))
	}
	if len(t.Requests) > 0 {
		zero := t.Requests[0].T.V
		for i := range t.Requests {
			t.Requests[i].T.V -= zero
		}
	}
	n := int64(len(t.Requests))
	t.Header.Counts = trace.Counts{Read: n, Kept: n}
	return t
}

// request is an arrival as a row, with its arrival on the engine's clock.
func (a *arrival) request(id int64, model string, blocks *numbering) trace.Request {
	r := trace.Request{ID: id, T: trace.Some(a.arrived.Microseconds()), API: trace.Completions, From: trace.Counted, N: 1}
	if a.chat {
		r.API = trace.Chat
	}
	if a.status != 0 {
		r.Status = trace.Some(int16(a.status))
	}
	if !a.decoded {
		r.Finish = trace.FinishError
		return r
	}
	r.Model, r.Input, r.Stream = model, trace.Some(a.prompt), trace.Some(a.stream)
	if a.asked > 0 {
		r.Max = trace.Some(a.asked)
	}
	r.Blocks = blocks.list(a.hashes, a.prompt%engine.BlockTokens != 0)
	r.Finish = [...]trace.Finish{engine.Going: trace.FinishUnknown, engine.Stop: trace.FinishStop, engine.Length: trace.FinishLength, engine.Abort: trace.FinishCancelled}[a.finish]
	if a.status != 0 && a.status != 200 {
		r.Finish = trace.FinishError
	}
	if a.tokens > 0 {
		r.Output, r.Cached = trace.Some(a.tokens), trace.Some(a.cached)
		r.Dur = trace.Some((a.last - a.arrived).Microseconds())
		if a.stream {
			r.TTFT = trace.Some((a.first - a.arrived).Microseconds())
		}
	}
	return r
}

// numbering gives chained hashes numbers by first appearance.
type numbering struct {
	ids  map[uint64]int32
	next int32
}

func (n *numbering) list(hashes []uint64, tail bool) []int32 {
	out := make([]int32, 0, len(hashes)+1)
	for _, h := range hashes {
		id, ok := n.ids[h]
		if !ok {
			id = n.fresh()
			n.ids[h] = id
		}
		out = append(out, id)
	}
	if tail {
		out = append(out, n.fresh())
	}
	return out
}

func (n *numbering) fresh() int32 {
	n.next++
	return n.next - 1
}

var errNotRecording = errors.New("mock: nothing was recorded, set Config.Record")

// Recording returns what arrived at the generating endpoints so far as a trace,
// in order of arrival: tokens and prefix blocks by the mock's counter, status,
// tokens and times by the mock's own clock. A request in flight has no status
// or finish yet. It fails when Config.Record is not set.
func (s *Server) Recording() (*trace.Trace, error) { return s.handler.Recording() }

// Recording is Server.Recording.
func (h *Handler) Recording() (*trace.Trace, error) {
	if h.rec == nil {
		return nil, errNotRecording
	}
	return h.rec.trace(h.cfg.Model, h.cfg.Counter), nil
}

// Arrivals returns the facts of the connections, in the order of Recording.
func (s *Server) Arrivals() ([]Arrival, error) { return s.handler.Arrivals() }

// Arrivals is Server.Arrivals.
func (h *Handler) Arrivals() ([]Arrival, error) {
	if h.rec == nil {
		return nil, errNotRecording
	}
	return h.rec.list(), nil
}

// WriteArrivals writes arrivals as JSON lines.
func WriteArrivals(w io.Writer, arrivals []Arrival) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range arrivals {
		if err := e.Encode(&arrivals[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}
