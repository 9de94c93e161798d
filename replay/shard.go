package replay

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/trace"
)

// Shard says which part of a run one client machine sends. All machines of a
// run share trace, salt and start.
type Shard struct {
	Index   int    `json:"index"` // from 0
	Of      int    `json:"of"`
	StartAt string `json:"start_at"` // RFC 3339 with fractions, UTC: the zero of all
	Planned int64  `json:"planned"`  // requests of all shards together
}

// maxShards bounds the machines of one run.
const maxShards = 1 << 16

// ParseShard reads i/n, i from 0 as Kubernetes counts the pods of an indexed
// job.
func ParseShard(text string) (Shard, error) {
	a, b, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || n > maxShards || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("a shard is I/N with I from 0 to N-1, for instance 0/4, not %q", text)
	}
	return Shard{Index: i, Of: n}, nil
}

// ShardOf returns the requests of t that one shard sends: all turns of a
// session go to one machine, and what has no session goes by its row. Rows keep
// their numbers and instants. t is left as it is.
func ShardOf(t *trace.Trace, s Shard) (*trace.Trace, error) {
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of {
		return nil, errors.New("no such shard")
	}
	out := *t
	out.Requests = nil
	for i := range t.Requests {
		if s.has(&t.Requests[i]) {
			out.Requests = append(out.Requests, t.Requests[i])
		}
	}
	if len(out.Requests) == 0 {
		return nil, fmt.Errorf("shard %d of %d has no requests: use fewer shards", s.Index, s.Of)
	}
	return &out, nil
}

// has tells whether a request is one of the shard's.
func (s Shard) has(r *trace.Request) bool {
	key := r.ID
	if r.Session.OK {
		key = int64(r.Session.V)
	}
	return int(key%int64(s.Of)) == s.Index
}

// Part leaves a plan with a schedule the jobs of one shard, at their instants.
func (p *Plan) Part(s Shard) error {
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of {
		return errors.New("no such shard")
	}
	if len(p.levels) > 0 || p.turns != nil {
		return errors.New("a load that waits for answers cannot be shared out")
	}
	p.Jobs = slices.DeleteFunc(p.Jobs, func(j Job) bool { return !s.has(&j.Request) })
	if len(p.Jobs) == 0 {
		return fmt.Errorf("shard %d of %d has no requests: use fewer shards", s.Index, s.Of)
	}
	p.Shape.Absolute = int64(len(p.Jobs))
	p.countPoints()
	return nil
}

// ShardSalt is the salt of all shards of a run that start at an instant, where
// the user gives none: they must make the same text without a word to each
// other.
func ShardSalt(start time.Time) int64 { return start.UnixNano() }

// zero is the instant of the run's zero.
func (o *Options) zero() time.Time {
	now := time.Now()
	if o.At.IsZero() {
		return now
	}
	return now.Add(o.At.Sub(now)) // on the monotonic clock
}
