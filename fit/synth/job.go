package synth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/trace/spec"
)

type job struct{ *spec.Job }

func jobOf(sp *spec.Spec, name string) (job, error) {
	var names []string
	for i := range sp.Workload.Jobs {
		if j := &sp.Workload.Jobs[i]; j.Name == name {
			return job{j}, nil
		} else {
			names = append(names, j.Name)
		}
	}
	if len(names) == 0 {
		return job{}, errors.New("the spec has no jobs")
	}
	return job{}, fmt.Errorf("the spec has no job %.40q; it has %s", name, strings.Join(names, ", "))
}

// arrivals spreads the requests of a job over its window as a Poisson process
// that ends with exactly so many; For cuts it short.
func (j job) arrivals(o Options) ([]int64, error) {
	n, window := float64(j.Requests.Value), float64(j.WindowS.Value)
	if o.Scale > 0 {
		n *= o.Scale
	}
	if n > maxRequests {
		return nil, errTooMany
	}
	rng := stream(o.Seed, streamArrivals)
	out := make([]int64, int64(n))
	for i := range out {
		out[i] = int64(rng.Float64() * window * 1e6)
	}
	slices.Sort(out)
	if end := o.For.Microseconds(); end > 0 {
		k, _ := slices.BinarySearch(out, end)
		out = out[:k]
	}
	return out, nil
}

// spec is the spec of the job alone.
func (j job) spec(sp *spec.Spec) *spec.Spec {
	out := *sp
	if j.Input != nil {
		out.Workload.Lengths.Input, out.Workload.Lengths.Joint = *j.Input, nil
	}
	if j.Output != nil {
		out.Workload.Lengths.Output, out.Workload.Lengths.Joint = *j.Output, nil
	}
	return &out
}
