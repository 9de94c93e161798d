package fit

import (
	"errors"
	"fmt"

	"reprise/trace"
	"reprise/trace/spec"
)

// Limits say up to what size a trace is held whole. Beyond it, sessions and
// prefix sharing are measured on parts of half the size; lengths, arrivals and
// features are exact always.
type Limits struct {
	Rows   int64
	Blocks int64 // prefix blocks
	Sample int64 // uses of blocks in the sample for the cache curve
}

// DefaultLimits keep a fit below 2 GiB.
func DefaultLimits() Limits { return Limits{Rows: 1_000_000, Blocks: 24_000_000, Sample: 8_000_000} }

// FitShards measures one trace, or several that are parts of one log, as Fit
// measures the trace of them all: each row is read once and let go. Shards lie
// to each other as their calendars say. Blocks and sessions of different shards
// are the same where keyed digests say so; where there are none (Apart), what is
// told of them is a lower bound, and the notes say so. progress, if not nil, is told how many rows were read.
func FitShards(shards []Shard, o Options, l Limits, progress func(rows int64)) (*spec.Spec, error) {
	if len(shards) == 0 {
		return nil, errors.New("no trace to measure")
	}
	a, err := align(shards, o.Order)
	if err != nil {
		return nil, err
	}
	if a.rows == 0 {
		return nil, errEmpty
	}
	m := newMeasure(a, l)
	columns := trace.Columns()
	if !m.whole {
		columns = needed()
	}
	for rows, err := range merged(shards, a, columns) {
		if err != nil {
			return nil, err
		}
		if err := m.add(rows); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(m.rows.n)
		}
	}
	sp, err := m.spec(o)
	if err != nil {
		return nil, err
	}
	apart(sp, a, len(shards))
	return sp, nil
}

// needed are the columns that the parts of a long trace are read for.
func needed() []string {
	return []string{"t_us", "session", "turn", "parent", "client", "api", "model", "adapter", "input_tokens", "output_tokens",
		"reasoning_tokens", "tokens_from", "blocks", "prefix_tokens", "stream", "tools", "json_schema", "tool_tokens", "schema_tokens",
		"n", "finish", "status", "duration_us"}
}

// apart notes what is lost between shards.
func apart(sp *spec.Spec, a *alignment, shards int) {
	w := &sp.Workload
	w.Arrivals.Notes = append(w.Arrivals.Notes, a.notes...)
	if a.brokenIn != "" {
		w.Prefix.Notes = append(w.Prefix.Notes, a.brokenIn)
	}
	if shards < 2 {
		return
	}
	a.between(w)
	if a.apart == "" {
		return
	}
	const how = "ingest all logs at once, or each under the same --key-file, to see it"
	note := func(format string, args ...any) {
		w.Prefix.Notes = append(w.Prefix.Notes, fmt.Sprintf(format, args...))
	}
	if len(w.Prefix.HitRates) > 0 {
		note("fitted from %d traces, each of which numbers its blocks for itself (%s): sharing between them is not seen, so hit rates are lower bounds; %s", shards, a.apart, how)
	}
	if w.Sessions != nil {
		w.Sessions.Notes = append(w.Sessions.Notes, fmt.Sprintf("fitted from %d traces (%s): a session that goes on from one to the next counts as two, so turns are lower bounds; %s", shards, a.apart, how))
	}
	if a.named {
		note("fitted from %d traces, each of which numbers its clients for itself: the share of variance between clients is left out", shards)
	}
	if a.alias {
		note("fitted from %d traces, each of which has aliases of its own: model1 of one may be another model than model1 of the next; let the policy keep their names, or use one --key-file", shards)
	}
}

// between notes what makes shards unlike parts of one log.
func (a *alignment) between(w *spec.Workload) {
	if a.copies > 0 {
		w.Arrivals.Notes = append(w.Arrivals.Notes, fmt.Sprintf("%d requests have the id of a request in another trace, so copies may count twice: ingest takes copies out of logs that it reads at once", a.copies))
	}
	for i, has := range a.spoken {
		if w.Sessions != nil && w.Sessions.Identity == spec.BySession && !has {
			w.Sessions.Notes = append(w.Sessions.Notes, fmt.Sprintf("trace %d names no sessions: they rest on the others", i+1))
		}
	}
}

// measure gathers what a spec needs of the rows of a trace, in order.
type measure struct {
	header   trace.Header
	limits   Limits
	whole    bool // all rows are held
	rows     rows
	features featureCounts
	first    trace.Trace // the rows from the first on that are held whole
	blocks   int64       // of those
	full     bool        // no more of them
	part     sessionPart
	hits     hitPass
}

func newMeasure(a *alignment, l Limits) *measure {
	m := &measure{header: a.header, limits: l, whole: a.rows <= l.Rows && a.blocks-a.rows <= l.Blocks}
	m.first.Header = a.header
	m.rows.room(a.rows)
	if !m.whole {
		m.part = newSessionPart(a.header, float64(l.Rows/2)/float64(a.rows))
		m.hits = newHitPass(a, l)
	}
	return m
}

func (m *measure) add(requests []trace.Request) error {
	if err := m.rows.add(requests); err != nil {
		return err
	}
	m.features.add(requests)
	m.hold(requests)
	if m.whole {
		return nil
	}
	m.part.add(requests)
	return m.hits.add(requests)
}

// hold keeps the first rows while there is room for them. Lists of blocks are
// the reader's, so they are copied.
func (m *measure) hold(requests []trace.Request) {
	for i := range requests {
		if m.full {
			return
		}
		r := requests[i]
		m.blocks += int64(len(r.Blocks))
		if !m.whole && (m.blocks > m.limits.Blocks/2 || int64(len(m.first.Requests)) >= m.limits.Rows/2) {
			m.full = true
			return
		}
		if len(r.Blocks) > 0 {
			r.Blocks = append([]int32(nil), r.Blocks...)
		}
		m.first.Requests = append(m.first.Requests, r)
	}
}

// spec is the draft from what was gathered.
func (m *measure) spec(o Options) (*spec.Spec, error) {
	return assemble(m.header, &m.rows, m.features.features(), o, func(w *spec.Workload) error {
		if m.whole {
			return related(w, &m.first)
		}
		return m.parts(w)
	})
}

// parts fills in prefix sharing and sessions of a trace that is not held whole.
func (m *measure) parts(w *spec.Workload) error {
	t := &m.first
	if err := related(w, t); err != nil {
		return err
	}
	n, of := int64(len(t.Requests)), m.rows.n
	m.hits.prefix(&w.Prefix, n, of)
	if s := m.part.sessions(m.rows.last()); s != nil {
		if w.Sessions != nil {
			s.Kept, s.FirstReuse = w.Sessions.Kept, w.Sessions.FirstReuse
		}
		w.Sessions = s
		s.Notes = append(s.Notes, m.part.note())
	} else if w.Sessions != nil {
		w.Sessions.Notes = append(w.Sessions.Notes, fmt.Sprintf("sessions rest on the first %d of %d requests, since only prefixes tell them", n, of))
	}
	return nil
}
