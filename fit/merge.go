package fit

import (
	"fmt"
	"iter"
	"math"

	"reprise/trace"
	"reprise/trace/keys"
)

// Shard is an open trace to be fitted, alone or as a part of a log.
type Shard struct {
	Name string
	File *trace.File
	Keys *keys.File // of the trace; nil where there are none
}

// alignment says how shards make one trace: the header of the whole, and where
// the zero of each shard lies on its clock (µs).
type alignment struct {
	header trace.Header
	shift  []int64
	rows   int64
	blocks int64
	notes  []string
	apart  string // why what goes on from shard to shard is not seen; empty where it is
	named  bool   // a row of shards that stay apart names a client
	alias  bool   // one has an alias for its model or adapter
	copies int64  // requests whose id a request of another shard has
	spoken []bool // by shard: a row names its session

	brokenIn string // where broken prefixes were found; empty for nowhere
}

// align refuses shards that are not parts of one log: other tokenizers, block
// sizes or clocks.
func align(shards []Shard, order string) (*alignment, error) {
	a := &alignment{header: shards[0].File.Header, shift: make([]int64, len(shards))}
	for _, s := range shards {
		h := &s.File.Header
		a.rows += h.Counts.Kept
		a.blocks += s.File.NumBlocks()
		if h == &shards[0].File.Header {
			continue
		}
		if why := otherKind(&a.header, h); why != "" {
			return a, fmt.Errorf("%s and %s do not merge: %s", shards[0].Name, s.Name, why)
		}
	}
	if len(shards) == 1 {
		return a, nil
	}
	if a.blocks > math.MaxInt32 {
		return a, fmt.Errorf("%d prefix blocks in all are more than can be told apart across traces: fit fewer of them, or ingest all logs at once", a.blocks)
	}
	a.account(shards)
	a.apart = Apart(shards)
	a.policies(shards)
	if a.header.Time.Calendar == trace.CalendarNone {
		return a, a.untimed(shards)
	}
	return a, a.place(shards, order)
}

// otherKind says why two traces are not parts of one log.
func otherKind(a, b *trace.Header) string {
	switch {
	case a.Tokenizer != b.Tokenizer:
		return "their tokens are of different tokenizers; ingest both logs with the same one"
	case a.Template != b.Template:
		return "their prompts are rendered by different templates; ingest both logs with the same one"
	case a.BlockTokens != b.BlockTokens || a.Tail != b.Tail:
		return fmt.Sprintf("their prefix blocks are of different kinds (%d tokens, tail %s; %d tokens, tail %s)", a.BlockTokens, a.Tail, b.BlockTokens, b.Tail)
	case a.Time.Calendar != b.Time.Calendar:
		return fmt.Sprintf("one has the calendar %s, the other %s; write both with the same calendar", a.Time.Calendar, b.Time.Calendar)
	}
	return ""
}

// account adds up the counts of the headers; the coarsest clock holds.
func (a *alignment) account(shards []Shard) {
	h := &a.header
	h.Counts = trace.Counts{Rejected: map[string]int64{}, Excluded: map[string]int64{}}
	h.Sources, h.DerivedFrom, h.Counting = nil, nil, nil
	var clock trace.ClockChange
	for _, s := range shards {
		c := s.File.Header.Counts
		h.Counts.Read, h.Counts.Kept = h.Counts.Read+c.Read, h.Counts.Kept+c.Kept
		for k, n := range c.Rejected {
			h.Counts.Rejected[k] += n
		}
		for k, n := range c.Excluded {
			h.Counts.Excluded[k] += n
		}
		h.Sources = append(h.Sources, s.File.Header.Sources...)
		h.Time.ResolutionUS = max(h.Time.ResolutionUS, s.File.Header.Time.ResolutionUS)
		if k := s.File.Header.Counting; k != nil && k.Clock != nil {
			clock.Either, clock.Skipped = clock.Either+k.Clock.Either, clock.Skipped+k.Clock.Skipped
		}
	}
	if clock != (trace.ClockChange{}) {
		h.Counting = &trace.Counting{Clock: &clock}
	}
	a.broken(shards)
}

// broken puts the broken prefixes of all logs side by side, each with its share
// of the requests of all: what logs share with each other was never seen.
func (a *alignment) broken(shards []Shard) {
	var all [][]brokenKind
	logs := 0
	for i, s := range shards {
		h := &s.File.Header
		if h.Counting == nil || len(h.Counting.Broken) == 0 {
			continue
		}
		logs++
		for _, k := range brokenKinds(i, h.Counting.Broken, float64(h.Counts.Kept)/float64(max(a.header.Counts.Kept, 1))) {
			all = joinBroken(all, k)
		}
	}
	if logs == 0 {
		return
	}
	if a.header.Counting == nil {
		a.header.Counting = new(trace.Counting)
	}
	a.header.Counting.Broken = brokenRows(all)
	a.brokenIn = fmt.Sprintf("broken prefixes are told of each trace for itself, by their share of the %d requests of all (%d of %d traces have some): what would be shared from one trace to another is not in them", a.header.Counts.Kept, logs, len(shards))
}

// untimed lets shards without times follow each other, and refuses times that no
// calendar relates.
func (a *alignment) untimed(shards []Shard) error {
	for _, s := range shards {
		for rows, err := range s.File.Chunks("t_us") {
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			if len(rows) > 0 && rows[0].T.OK {
				return fmt.Errorf("%s has times without a calendar, so nothing tells how it lies to the others: ingest all logs at once", s.Name)
			}
			break
		}
	}
	return nil
}

// source is a shard that is being read.
type source struct {
	rows  []trace.Request
	next  func() ([]trace.Request, error, bool)
	stop  func()
	ids   []int32 // new ids of its rows, for parents
	index int
	shift int64
	base  int32 // added to its sessions and blocks
	keys  *ownKeys
	name  string
	done  bool
}

// refill reads the next rows when those at hand are used up.
func (s *source) refill() error {
	for len(s.rows) == 0 && !s.done {
		rows, err, ok := s.next()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.rows, s.done = rows, !ok
	}
	return nil
}

// mergedRows is how many rows of several shards are yielded at a time.
const mergedRows = 4096

// merged yields the requests of all shards by arrival, those of one time by
// shard. Ids and parents are those of the whole. Where shards stay apart, their
// sessions and blocks are different ones, and clients are left out; elsewhere all
// have the numbers of the whole. The slice is used again.
func merged(shards []Shard, a *alignment, columns []string) iter.Seq2[[]trace.Request, error] {
	if len(shards) == 1 {
		return func(yield func([]trace.Request, error) bool) {
			for rows, err := range shards[0].File.Chunks(columns...) {
				if err != nil {
					err = fmt.Errorf("%s: %w", shards[0].Name, err)
				}
				if !yield(rows, err) {
					return
				}
			}
		}
	}
	return func(yield func([]trace.Request, error) bool) {
		m := merger{a: a, sources: make([]source, len(shards)), out: make([]trace.Request, 0, mergedRows)}
		a.spoken = make([]bool, len(shards))
		if a.apart == "" {
			m.crossing = newCrossing(shards)
			defer func() { a.copies = m.crossing.copies }()
		}
		base := int64(0)
		for i, s := range shards {
			next, stop := iter.Pull2(s.File.Chunks(columns...))
			defer stop()
			m.sources[i] = source{next: next, stop: stop, index: i, shift: a.shift[i], base: int32(base), name: s.Name}
			base += s.File.NumBlocks() // at least one a request, so sessions are told apart too
			if m.crossing != nil {
				m.sources[i].keys = newOwnKeys(s.Keys, i)
				defer m.sources[i].keys.stop()
			}
		}
		for {
			rows, err := m.batch()
			if (len(rows) > 0 || err != nil) && !yield(rows, err) || len(rows) == 0 || err != nil {
				return
			}
		}
	}
}

type merger struct {
	a        *alignment
	sources  []source
	crossing *crossing // nil where shards stay apart
	out      []trace.Request
	n        int64
}

// batch takes the earliest rows until it is full or one shard must be read on.
func (m *merger) batch() ([]trace.Request, error) {
	m.out = m.out[:0]
	for i := range m.sources {
		if err := m.sources[i].refill(); err != nil {
			return nil, err
		}
	}
	for len(m.out) < mergedRows {
		best := -1
		for i := range m.sources {
			s := &m.sources[i]
			if len(s.rows) > 0 && (best < 0 || s.rows[0].T.V+s.shift < m.sources[best].rows[0].T.V+m.sources[best].shift) {
				best = i
			}
		}
		if best < 0 {
			return m.out, nil
		}
		if err := m.take(&m.sources[best]); err != nil {
			return nil, err
		}
		if s := &m.sources[best]; len(s.rows) == 0 && !s.done {
			return m.out, nil
		}
	}
	return m.out, nil
}

// take renumbers the next row of a shard.
func (m *merger) take(s *source) error {
	r := s.rows[0]
	s.rows = s.rows[1:]
	if r.T.OK {
		r.T.V += s.shift
	}
	r.ID = m.n
	m.n++
	m.a.spoken[s.index] = m.a.spoken[s.index] || r.Session.OK
	if m.crossing == nil {
		m.apart(&r, s)
	} else if err := m.crossing.request(&r, s.keys, r.ID); err != nil {
		return fmt.Errorf("keys of %s: %w", s.name, err)
	}
	m.out = append(m.out, r)
	return nil
}

// apart keeps what a shard numbered for itself away from the others' numbers.
func (m *merger) apart(r *trace.Request, s *source) {
	if p := r.Parent; p.OK {
		r.Parent = trace.Opt[int64]{}
		if p.V >= 0 && p.V < int64(len(s.ids)) {
			r.Parent = trace.Some(int64(s.ids[p.V]))
		}
	}
	s.ids = append(s.ids, int32(r.ID))
	m.a.named = m.a.named || r.Client.OK
	m.a.alias = m.a.alias || trace.AliasOf("model", r.Model) != trace.NoAlias || trace.AliasOf("adapter", r.Adapter) != trace.NoAlias
	r.Client = trace.Opt[int32]{}
	if r.Session.OK {
		r.Session.V += s.base
	}
	for i := range r.Blocks {
		r.Blocks[i] += s.base
	}
}
