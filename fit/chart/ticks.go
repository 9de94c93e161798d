package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// linearTicks are about n round numbers between lo and hi.
func linearTicks(lo, hi float64, n int, share bool, unit string) []plot.Tick {
	step := roundStep((hi - lo) / float64(n))
	var out []plot.Tick
	for i := math.Ceil(lo/step-1e-9) + 0; i*step <= hi*(1+1e-9) && len(out) < 50; i++ {
		v := i * step
		label := number(v) + unit
		if share {
			label = number(v*100) + " %"
		}
		out = append(out, plot.Tick{Value: v, Label: label})
	}
	return out
}

// roundStep is the smallest of 1, 2, 2.5, 5 times a power of ten that is at
// least v.
func roundStep(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// logTicks are the numbers 1, 2 and 5 times powers of ten between lo and hi;
// over more than three decades only the powers. Where that leaves one or none,
// they are round numbers.
func logTicks(lo, hi float64, unit string) []plot.Tick {
	steps := []float64{1, 2, 5}
	if hi/lo > 1000 {
		steps = steps[:1]
	}
	var out []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi) && len(out) < 60; e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= lo && v <= hi {
				out = append(out, plot.Tick{Value: v, Label: number(v) + unit})
			}
		}
	}
	if len(out) < 2 {
		return linearTicks(lo, hi, 5, false, unit)
	}
	return out
}

// number writes a tick without digits that rounding made.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 6, 64)
	s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	if whole, frac, ok := strings.Cut(s, "."); ok {
		return Thousands(whole) + "." + frac
	}
	return Thousands(s)
}

// Thousands puts commas into a whole number.
func Thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
