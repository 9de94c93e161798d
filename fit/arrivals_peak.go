package fit

// Window is the busiest stretch of a trace: N arrivals in [FromUS, ToUS), which
// is Rate per second. Whole says that the trace is no longer than the window
// that was asked for, so that the window is all of it.
type Window struct {
	FromUS, ToUS int64
	N            int64
	Rate         float64
	Whole        bool
}

// PeakWindow finds the busiest window of width among those that start at
// multiples of stride (µs, from the zero of times) and lie within the trace, its
// first and last stride included; ties go to the earliest. The peak hour is
// width 3600 s, stride 60 s. It needs one pass, however long the trace.
func PeakWindow(times []int64, width, stride int64) Window {
	if len(times) == 0 || width <= 0 || stride <= 0 {
		return Window{Whole: true}
	}
	first := floorTo(times[0], stride)
	latest := floorTo(times[len(times)-1], stride) + stride - width
	if latest <= first {
		return whole(times)
	}
	var best Window
	lo, hi := 0, 0
	for _, t := range times {
		// A window may move up to its first arrival without losing any.
		start := min(floorTo(t, stride), floorTo(latest, stride))
		for times[lo] < start {
			lo++
		}
		for hi < len(times) && times[hi] < start+width {
			hi++
		}
		if n := int64(hi - lo); n > best.N {
			// The earliest start that still reaches the last of them.
			early := max(floorTo(times[hi-1]-width, stride)+stride, first)
			best = Window{FromUS: early, ToUS: early + width, N: n}
		}
	}
	best.Rate = float64(best.N) / seconds(width)
	return best
}

func whole(times []int64) Window {
	n := len(times)
	w := Window{FromUS: times[0], ToUS: times[n-1] + 1, N: int64(n), Whole: true}
	if span := times[n-1] - times[0]; span > 0 {
		w.Rate = float64(n) / seconds(span)
	}
	return w
}

// floorTo is the largest multiple of step at or below t.
func floorTo(t, step int64) int64 {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}
