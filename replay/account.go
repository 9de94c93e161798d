package replay

import "encoding/binary"

// account is what a running client knows of itself and its results do not tell.
// It is spooled once a second, so that a killed run is judged by all of it.
type account struct {
	delays, beats SpanCount  // since the account before
	worst         int64      // ns, the latest heartbeat so far
	lacking       int64      // requests that this machine could not send so far
	lack          string     // what the first of them lacked
	slept         int64      // ns that the machine was asleep so far
	sent          []SentHits // so far
}

// add takes the next account of a run.
func (a *account) add(next account) {
	next.delays, next.beats = a.delays.plus(next.delays), a.beats.plus(next.beats)
	*a = next
}

// signs are those of Lags.Judge.
func (a *account) signs(alone float64) Signs {
	return Signs{Delays: a.delays, Beats: a.beats, Worst: a.worst, Alone: alone, Slept: a.slept}
}

func appendAccount(b []byte, a *account) []byte {
	b = appendSpans(appendSpans(b, a.delays), a.beats)
	b = binary.AppendVarint(binary.AppendVarint(b, a.worst), a.lacking)
	b = binary.AppendUvarint(binary.AppendVarint(appendString(b, a.lack), a.slept), uint64(len(a.sent)))
	for _, s := range a.sent {
		for _, v := range []int64{int64(s.Point), s.Hit, s.Prompt} {
			b = binary.AppendVarint(b, v)
		}
	}
	return b
}

func decodeAccount(rec []byte) (account, error) {
	c := &cursor{b: rec}
	a := account{delays: c.spans(), beats: c.spans(), worst: c.int(), lacking: c.int(), lack: c.string(), slept: c.int()}
	n := c.uint()
	if n > uint64(len(c.b)) {
		return a, errRecord
	}
	for range n {
		a.sent = append(a.sent, SentHits{Point: int32(c.int()), Hit: c.int(), Prompt: c.int()})
	}
	return a, c.end()
}

// appendSpans writes the buckets that are not empty: the distance of each from
// the one before, and its count.
func appendSpans(b []byte, s SpanCount) []byte {
	n := 0
	for _, k := range s.counts {
		if k != 0 {
			n++
		}
	}
	b = binary.AppendUvarint(b, uint64(n))
	last := 0
	for i, k := range s.counts {
		if k != 0 {
			b = binary.AppendVarint(binary.AppendUvarint(b, uint64(i-last)), k)
			last = i
		}
	}
	return b
}

func (c *cursor) spans() SpanCount {
	n, at := c.uint(), uint64(0)
	if n == 0 || n > spanBuckets {
		c.bad = c.bad || n > 0
		return SpanCount{}
	}
	out := SpanCount{make([]int64, spanBuckets)}
	for range n {
		step, k := c.uint(), c.int()
		if step >= spanBuckets || at+step >= spanBuckets {
			c.bad = true
			return SpanCount{}
		}
		at += step
		out.counts[at] = k
	}
	return out
}

// verdict judges the client of a run that did not end by what its spool holds.
func (ix *index) verdict(alone float64) ClientVerdict {
	if ix.account == nil {
		v := ix.lags.Verdict()
		v.Reason += "; by the send lag alone, since nothing was kept of the kernel's delay and the heartbeat"
		return v
	}
	ix.lags.lacking, ix.lags.lack = ix.account.lacking, ix.account.lack
	return ix.lags.Judge(ix.account.signs(alone))
}
