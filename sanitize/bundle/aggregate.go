package bundle

import (
	"fmt"
	"math"

	"reprise/trace"
	"reprise/trace/spec"
)

// aggregate lets no request go. It holds back every statistic of the spec that
// rests on fewer than k requests, and refuses the bundle where a statistic that
// a spec cannot do without does.
//
// A value that one request alone can move without bound (an exact maximum, a
// mean, a standard deviation, a fitted parameter) is held back too: what stays
// are quantiles between k/n and 1-k/n, counts, and what follows from them.
func aggregate(in *Input, out *leaving) error {
	if n := clients(in.Trace); n > 0 && n < int64(in.U) {
		return fmt.Errorf("the log names fewer than u = %d clients, so no statistic may leave", in.U)
	}
	h := &holder{k: int64(in.K), u: int64(in.U), trace: in.Trace}
	h.requests = max(out.spec.Workload.Arrivals.Rate.N, out.spec.Workload.Lengths.Input.Quantiles.N)
	h.held = cutLabels(out.spec, in.Calendar)
	w := &out.spec.Workload
	for _, section := range []func(*spec.Workload) error{h.lengths, h.arrivals, h.arrivalExtras, h.prefix, h.sessions, h.features, h.lengthRest, h.sharing} {
		if err := section(w); err != nil {
			return err
		}
	}
	out.held = h.held
	return nil
}

// holder applies the k rule and keeps the list of what it held back.
type holder struct {
	k, u  int64
	trace *trace.Trace // for counts that the spec does not carry; may be nil
	held  []string

	requests int64 // of the log, by the spec
}

// back records that what lies under a key path is held back.
func (h *holder) back(format string, args ...any) {
	h.held = append(h.held, fmt.Sprintf(format, args...))
}

// counted reports whether numbers of this origin rest on a log's records. What
// a person stated does not, so the k rule has nothing to say about it.
func counted(f spec.From) bool { return f != spec.Assumed }

// number drops a single number with fewer than k records behind it.
func (h *holder) number(key string, n **spec.Number) {
	if *n != nil && counted((*n).From) && (*n).N < h.k {
		*n = nil
		h.back("%s", key)
	}
}

// moved drops a number that one record can move without bound.
func (h *holder) moved(key string, n **spec.Number) {
	if *n != nil && counted((*n).From) {
		*n = nil
		h.back("%s: one request can move it", key)
	}
}

// share drops a share that singles out a group of fewer than k records, be it
// those that have the property or those that do not.
func (h *holder) share(key string, n **spec.Number) {
	if *n != nil && !h.shareStays(**n) {
		*n = nil
		h.back("%s", key)
	}
}

func (h *holder) shareStays(n spec.Number) bool {
	if !counted(n.From) {
		return true
	}
	return n.N >= h.k && h.group(float64(n.Value)*float64(n.N)) && h.group((1-float64(n.Value))*float64(n.N))
}

// group reports whether a group of about n records is empty or has at least k.
// Half a record of slack covers the six digits that shares are written with.
func (h *holder) group(n float64) bool { return n < 0.5 || n >= float64(h.k)-0.5 }

// enough reports whether about n records are k or more.
func (h *holder) enough(n float64) bool { return n >= float64(h.k)-0.5 }

// behind returns about how many records have a property that the given share of
// total records has. The n of such a number may be those records or all of
// them; where it cannot be the former, it is taken for the latter.
func behind(share spec.Num, n, total int64) float64 {
	if own := float64(share) * float64(total); math.Abs(own-float64(n)) <= 1+0.001*float64(total) {
		return float64(n)
	}
	return float64(share) * float64(n)
}

// remarks drops remarks that hold a digit: a remark with a figure in it is a
// statistic that nobody counted records for.
func (h *holder) remarks(key string, notes []string) []string {
	var out []string
	for _, n := range notes {
		if hasDigit(n) {
			h.back("%s: a remark with figures", key)
			continue
		}
		out = append(out, n)
	}
	return out
}

func hasDigit(s string) bool {
	for _, r := range s {
		if r >= '0' && r <= '9' {
			return true
		}
	}
	return false
}
