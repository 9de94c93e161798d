package report

import (
	"slices"

	"reprise/replay"
)

// FirstGap tells of answers that stand still behind their first content: N of Of
// have a first gap of at least longFirst times their own typical gap. P50MS is the
// median of those first gaps.
type FirstGap struct {
	N     int64    `json:"n"`
	Of    int64    `json:"of"` // streams with enough gaps to tell
	P50MS *float64 `json:"p50_ms"`
}

const (
	longFirst  = 10     // times the typical gap
	leastFirst = 20_000 // µs: shorter ones are within what a busy machine does
	gapsToTell = 5
)

// firstGapSums gather the first gaps of streams.
type firstGapSums struct {
	of   int64
	long sorted // ns
}

func (f *firstGapSums) add(r *replay.Result) {
	if len(r.Gaps) < gapsToTell {
		return
	}
	f.of++
	first := int64(r.Gaps[0])
	if first >= leastFirst && first >= longFirst*mean(r.Gaps[1:]) && first >= longFirst*middle(r.Gaps[1:]) {
		f.long = append(f.long, first*1000)
	}
}

// The typical gap is the mean or the median, whichever is longer: where several
// events share a read the median may be none. The mean comes first, since for the
// median gaps are sorted, and of most answers that need not be.
func mean(gaps []int32) (us int64) {
	for _, g := range gaps {
		us += int64(g)
	}
	return us / int64(len(gaps))
}

func middle(gaps []int32) (us int64) {
	in := slices.Sorted(slices.Values(gaps))
	return int64(in[(len(in)-1)/2])
}

func (f *firstGapSums) merge(o *firstGapSums) {
	f.of += o.of
	f.long = append(f.long, o.long...)
}

// finish gives nothing where it is not a habit of the server: in fewer than a
// quarter of the streams.
func (f *firstGapSums) finish() *FirstGap {
	n := f.long.len()
	if n == 0 || 4*n < f.of {
		return nil
	}
	return &FirstGap{N: n, Of: f.of, P50MS: msAt(sortedOf(slices.Clone(f.long)), 50)}
}

// hint ends a headline with a TTFT that may be one of a place-holder.
func (s *Summary) hint() string {
	onTTFT := func(x SLOResult) bool { return x.Metric == "ttft" }
	if s.Streams.FirstGap == nil || len(s.SLO) > 0 && !slices.ContainsFunc(s.SLO, onTTFT) {
		return ""
	}
	return "; TTFT may be that of a place-holder: see the notes"
}

// placeholder is the hint behind a single figure.
func (s *Summary) placeholder(metric string) string {
	if metric != "ttft" || s.Streams.FirstGap == nil {
		return ""
	}
	return " (perhaps a place-holder's)"
}

func noteFirstGap(add func(bool, string, ...any), f *FirstGap) {
	if f == nil {
		return
	}
	add(true, "In %s of %s the first content stands alone: the gap behind it (median %s ms) is at least %d times the answer's typical one. TTFT may then be that of a place-holder (a blank, say) that is sent before the first token is made; so do servers that make the prompt and the tokens in different places, with a first token that is real. Look at what comes first, and add the gap to TTFT where it says nothing.",
		plural(f.N, "answer"), count(f.Of), msOr(f.P50MS), longFirst)
}
