package bundle

import "reprise/trace/spec"

const sessionsKey = "workload.sessions"

// sessions keeps the section only where k sessions, and k or no sessions of
// several turns, are behind it.
func (h *holder) sessions(w *spec.Workload) error {
	s := w.Sessions
	if s == nil || !counted(s.Count.From) {
		return nil
	}
	n := spec.Number{Value: s.ShareMultiple.Value, N: int64(s.Count.Value)}
	if !h.shareStays(n) || s.Turns.N < 2*h.k || len(s.Turns.P) == 0 || h.table(sessionsKey+".turns", &s.Turns) != nil {
		w.Sessions = nil
		h.back("%s", sessionsKey)
		return nil
	}
	s.MeanTurns.Value, s.MeanTurns.From = spec.Round(tableMean(s.Turns.P, s.Turns.Values)), spec.Estimate
	h.back("%s.mean_turns: the exact mean; the mean of the quantiles that leave stands in its place", sessionsKey)
	h.moved(sessionsKey+".max_turns", &s.MostTurns)
	h.moved(sessionsKey+".share_input_tokens_multi_turn", &s.Tokens)
	h.share(sessionsKey+".share_requests_multi_turn", &s.Requests)
	h.share(sessionsKey+".left_truncated", &s.Truncated)
	h.share(sessionsKey+".right_censored", &s.Censored)
	h.share(sessionsKey+".share_compacted", &s.Compacted)
	h.share(sessionsKey+".share_branched", &s.Branched)
	h.hazards(s)
	h.optional(sessionsKey+".between_turns_s", &s.Between)
	h.optional(sessionsKey+".think_s", &s.Think)
	h.optional(sessionsKey+".think_human_s", &s.ThinkHuman)
	h.optional(sessionsKey+".think_tool_s", &s.ThinkTool)
	h.optional(sessionsKey+".growth_tokens", &s.Growth)
	h.optional(sessionsKey+".history_kept", &s.Kept)
	h.optional(sessionsKey+".first_input", &s.First)
	if s.FirstReuse != nil {
		h.firstReuse(w)
	}
	h.starts(s)
	s.Notes = h.remarks(sessionsKey+".notes", s.Notes)
	return nil
}

// hazards pools turns from the first one on that singles out fewer than k
// sessions, be it those that go on or those that end; and drops the pool where
// it does so too.
func (h *holder) hazards(s *spec.Sessions) {
	var out []spec.Hazard
	for i, x := range s.Hazards {
		if !counted(x.From) || h.splits(x) {
			out = append(out, x)
			continue
		}
		next, n := 0.0, int64(0)
		for _, y := range s.Hazards[i:] {
			next += float64(float64(y.Value) * float64(y.N))
			n += y.N
		}
		h.back("%s.hazards: from turn %d on, each", sessionsKey, x.Turn)
		x.AndLater, x.N = true, n
		x.Value = spec.Round(next / float64(max(n, 1)))
		if h.splits(x) {
			out = append(out, x)
		}
		break
	}
	s.Hazards = out
}

func (h *holder) splits(x spec.Hazard) bool {
	return h.shareStays(spec.Number{Value: x.Value, N: x.N, From: x.From})
}

// firstReuse holds the model of first turns to the rules of that of all.
func (h *holder) firstReuse(w *spec.Workload) {
	p := spec.Prefix{BlockTokens: w.Prefix.BlockTokens, Roots: w.Prefix.Roots, Model: w.Sessions.FirstReuse}
	w.Sessions.FirstReuse = h.reuse(sessionsKey+".first_reuse", &p, top(w.Lengths.Input))
}

// starts keeps the arrivals of first turns in the finest bins that are empty or
// have k of them, with a rate that says no more; without such bins nothing.
func (h *holder) starts(s *spec.Sessions) {
	a := s.Starts
	if a == nil || !counted(a.Rate.From) {
		return
	}
	key := sessionsKey + ".starts"
	var r *spec.RateSeries
	if a.Rates != nil && len(a.Rates.Counts) > 0 && a.Rates.LastS > 0 {
		for _, m := range []int{1, 5, 15, 60} {
			if r = h.fit(coarsen(a.Rates, m)); r != nil {
				break
			}
		}
	}
	if r == nil || duration(r) <= 0 {
		s.Starts = nil
		h.back("%s", key)
		return
	}
	r.N = total(r.Counts)
	r.LastS = min(spec.Round(float64(r.LastS)+0.999), r.WidthS)
	a.Rates = r
	a.Rate.Value, a.Rate.N = spec.Round(float64(r.N)/duration(r)), r.N
	a.IDC = keep(h, key+".idc", a.IDC, func(v spec.ScaleValue) bool { return v.N >= h.k })
	h.back("%s: the exact time from the first start to the last", key)
}
