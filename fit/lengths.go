package fit

import (
	"cmp"
	"math"
	"slices"

	"reprise/fit/dist"
)

// Description sums up one variable. SD divides by n−1; CV is SD over mean. Modes
// holds the five most frequent values.
type Description struct {
	N, Zeros, Ones, Distinct int64
	Min, Max, Sum, Mean      float64
	SD, CV                   Stat
	Modes                    dist.Values
}

// Describe sums up v, zeros included.
func Describe(v dist.Values) Description {
	d := Description{N: v.Len(), Distinct: int64(len(v.X))}
	d.SD, d.CV = absent("no values"), absent("no values")
	if d.N == 0 {
		return d
	}
	d.Zeros, d.Ones = v.Count(0), v.Count(1)
	d.Min, d.Max = v.X[0], v.X[len(v.X)-1]
	d.Sum, d.Mean, d.Modes = v.Sum(), v.Mean(), v.Modes(5)
	d.SD, d.CV = spread(v)
	return d
}

// spread returns the standard deviation and the coefficient of variation.
func spread(v dist.Values) (sd, cv Stat) {
	if v.Len() < 2 {
		return absent("fewer than two values"), absent("fewer than two values")
	}
	sd = value(v.SD())
	if v.Mean() == 0 {
		return sd, absent("the mean is zero")
	}
	return sd, value(sd.Value / v.Mean())
}

// FamilyFit is a distribution fitted to the values above zero. KS is an effect
// size and Label words it (dist.Label). LogLDiscrete scores the family rounded to
// integers; look at it when the median is below 50.
type FamilyFit struct {
	Family             dist.Family
	LogL, LogLDiscrete float64
	BIC, KS            float64
	Label              string
}

// FitFamilies fits every family of dist to the values above zero, best BIC
// first. A family that cannot be fitted is missing, and missing[name] says why.
func FitFamilies(v dist.Values) (fits []FamilyFit, missing map[string]string) {
	v = v.Positive()
	missing = map[string]string{}
	for _, f := range dist.Families() {
		fam, err := f.Fit(v)
		if err != nil {
			missing[f.Name] = err.Error()
			continue
		}
		logL, ks := fam.LogL(v), dist.KS(v, fam.CDF)
		k := float64(len(fam.Params()))
		fits = append(fits, FamilyFit{Family: fam, LogL: logL, KS: ks, Label: dist.Label(ks),
			LogLDiscrete: dist.LogLDiscrete(fam, v),
			BIC:          float64(k*math.Log(float64(v.Len()))) - 2*logL})
	}
	slices.SortStableFunc(fits, func(a, b FamilyFit) int { return cmp.Compare(a.BIC, b.BIC) })
	return fits, missing
}

// Atom is a value with at least a given share of the mass.
type Atom struct{ Value, Share float64 }

// Atoms returns the values that hold at least minShare of v, ascending.
func Atoms(v dist.Values, minShare float64) []Atom {
	var out []Atom
	for i, x := range v.X {
		if s := float64(v.N[i]) / float64(v.Len()); s >= minShare {
			out = append(out, Atom{x, s})
		}
	}
	return out
}

// CapShare is the share of v in the top 0.2 % of its range. Above 1 % the
// lengths look capped, by a context window or by max_tokens.
func CapShare(v dist.Values) float64 {
	if v.Len() == 0 || v.X[0] == v.X[len(v.X)-1] {
		return 0
	}
	top := v.X[len(v.X)-1]
	edge := top - float64(0.002*(top-v.X[0]))
	var n int64
	for i := len(v.X) - 1; i >= 0 && v.X[i] >= edge; i-- {
		n += v.N[i]
	}
	return float64(n) / float64(v.Len())
}
