package report

import (
	"fmt"
	"slices"
	"strings"

	"reprise/replay"
)

// Stated is what the server says in the headers of its answers that it took
// (server_time_us of answered, measured requests). A stream's header leaves before
// the answer is whole, so there it is no more than the time to its first token.
type Stated struct {
	Header string          `json:"header"` // names, in the order in which they are taken
	N      int64           `json:"n"`
	P50MS  *float64        `json:"p50_ms"`          // nil where too few
	P99MS  *float64        `json:"p99_ms"`          //
	All    []replay.Stated `json:"times,omitempty"` // of each header, whole run
	Others []string        `json:"others,omitempty"`
}

// statedSums gather what servers say they took, ns.
type statedSums struct{ took sorted }

func (p *statedSums) add(r *replay.Result) {
	if r.ServerTime.OK {
		p.took = append(p.took, r.ServerTime.V*1000)
	}
}

func (p *statedSums) merge(o *statedSums) { p.took = append(p.took, o.took...) }

// finish returns nil where no answer has a time.
func (p *statedSums) finish(run *replay.Run) *Stated {
	e := &run.Endpoint
	if p.took.len() == 0 && len(e.OtherTimes) == 0 {
		return nil
	}
	took := sortedOf(slices.Clone(p.took))
	out := &Stated{Header: e.ServerTime, N: took.len(), All: e.Stated, Others: e.OtherTimes}
	at := func(p float64) *float64 {
		if !supported(p, took.len()) {
			return nil
		}
		return msAt(took, p)
	}
	out.P50MS, out.P99MS = at(50), at(99)
	return out
}

// statedCells sets what the server says it took beside the client's times from
// sending.
func (s *Summary) statedCells(add func(name, value, note string)) {
	v := s.Stated
	if v == nil {
		return
	}
	if v.N > 0 {
		ttft, e2e := s.latency("ttft", "write_end"), s.latency("e2e", "write_end")
		beside := func(p float64) string {
			return fmt.Sprintf("from sending, TTFT %s, E2E %s", or(ttft.percentile(p), "too few"), or(e2e.percentile(p), "too few"))
		}
		add("Its own time p50, ms", or(v.P50MS, "too few"), beside(50))
		add("Its own time p99, ms", or(v.P99MS, "too few"), beside(99)+fmt.Sprintf("; %s, header %s", plural(v.N, "answer"), v.Header))
	}
	if len(v.All) > 1 { // of one there is nothing to add
		for _, x := range v.All {
			add(x.Name+" p50, p99, ms", msNumber(x.P50MS)+", "+msNumber(x.P99MS), plural(x.N, "answer")+" of the whole run, upper bounds within 1/16")
		}
	}
	if len(v.Others) > 0 {
		add("Headers of unknown unit", count(int64(len(v.Others))), strings.Join(v.Others, ", "))
	}
}
