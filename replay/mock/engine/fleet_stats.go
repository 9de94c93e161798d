package engine

// Stats returns the sum over all replicas that there ever were; KVUsage is the
// mean over those that there are.
func (f *Fleet) Stats() Stats {
	sum := f.gone.clone()
	usage := 0.0
	for _, r := range f.replicas {
		s := r.engine.Stats()
		usage += s.KVUsage
		sum.merge(&s)
	}
	sum.KVUsage = usage / float64(max(1, len(f.replicas)))
	return sum
}

// ReplicaStats is the view of one replica.
type ReplicaStats struct {
	Replica
	Stats Stats
}

// Replicas returns every replica that is there, in order of joining.
func (f *Fleet) Replicas() []ReplicaStats {
	out := make([]ReplicaStats, len(f.replicas))
	for i, r := range f.replicas {
		out[i] = ReplicaStats{Replica: Replica{Number: r.Number, Ready: r.Ready, Leaving: r.Leaving}, Stats: r.engine.Stats()}
	}
	return out
}

// merge adds the counts of o; gauges of numbers add too, KVUsage does not.
func (s *Stats) merge(o *Stats) {
	s.Running += o.Running
	s.Waiting += o.Waiting
	s.PrefixQueries += o.PrefixQueries
	s.PrefixHits += o.PrefixHits
	s.PromptTokens += o.PromptTokens
	s.GenerationTokens += o.GenerationTokens
	s.Preemptions += o.Preemptions
	s.Steps += o.Steps
	for i, n := range o.Ended {
		s.Ended[i] += n
	}
	s.Rejected.Rate += o.Rejected.Rate
	s.Rejected.Length += o.Rejected.Length
	s.Rejected.Queue += o.Rejected.Queue
	other := o.histograms()
	for i, h := range s.histograms() {
		h.merge(*other[i])
	}
}

// merge adds the counts of o, which has the same bounds.
func (h *Histogram) merge(o Histogram) {
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Sum += o.Sum
}
