package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/fit/chart"
	"reprise/fit/dist"
	"reprise/trace/spec"
)

// Quantile is the table's value at p, between its points on a straight line; NaN
// beyond its ends, where it was held back.
func Quantile(t *spec.Table, p spec.Num) float64 {
	if t == nil || len(t.P) == 0 || p < t.P[0] || p > t.P[len(t.P)-1] {
		return math.NaN()
	}
	x := dist.Table{P: make([]float64, len(t.P)), X: make([]float64, len(t.P))}
	for i := range t.P {
		x.P[i], x.X[i] = float64(t.P[i]), float64(t.Values[i])
	}
	return x.At(float64(p))
}

// heldBack stands where a quantile was not to leave.
const heldBack = "held back"

// Tokens writes a whole number with commas.
func Tokens(v float64) string {
	if math.IsNaN(v) {
		return heldBack
	}
	return chart.Thousands(fmt.Sprintf("%.0f", v))
}

// Short writes a number with about three digits, no exponent, and commas.
func Short(v float64) string {
	digits := 0
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return heldBack
	case a >= 100 || a == 0:
		return Tokens(v)
	case a < 1e-4:
		return strconv.FormatFloat(v, 'g', 3, 64)
	default:
		digits = 2 - int(math.Floor(math.Log10(a)))
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Seconds writes a time (s) in the unit that people would use.
func Seconds(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return heldBack
	case a == 0:
		return "0 s"
	case a < 1:
		return Short(v*1000) + " ms"
	case a < 120:
		return Short(v) + " s"
	case a < 2*3600:
		return Short(v/60) + " min"
	case a < 48*3600:
		return Short(v/3600) + " h"
	}
	return Short(v/86400) + " days"
}

// percent keeps the sign on the line of its number.
func percent(share float64) string {
	if math.IsNaN(share) {
		return heldBack
	}
	return fmt.Sprintf("%.1f\u00a0%%", 100*share)
}

// from says where a number comes from, and on how many records.
func from(f spec.From, n int64, confidence string) string {
	s := string(f)
	if confidence != "" {
		s += " (" + confidence + ")"
	}
	if n > 0 {
		s += ", n = " + chart.Thousands(fmt.Sprint(n))
	}
	return s
}

func of(n spec.Number) string { return from(n.From, n.N, n.Confidence) }

func by(p spec.Provenance) string { return from(p.From, p.N, p.Confidence) }

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// words makes cells of words, numbers cells of numbers.
func words(text ...string) []cell { return cellsOfText(false, text) }

func numbers(text ...string) []cell { return cellsOfText(true, text) }

func cellsOfText(number bool, text []string) []cell {
	out := make([]cell, len(text))
	for i, s := range text {
		out[i] = cell{Text: s, Number: number}
	}
	return out
}

// row is a name, its value and where that comes from.
func row(name, value, source string) []cell {
	return []cell{{Text: name}, {Text: value, Number: true}, {Text: source}}
}

// bar is a cell with a share drawn.
func bar(share float64) cell {
	share = min(max(share, 0), 1)
	return cell{Bar: &share}
}

// add appends rows to a block's table, which it makes.
func (b *block) add(rows ...[]cell) {
	if b.Table == nil {
		b.Table = new(table)
	}
	b.Table.Rows = append(b.Table.Rows, rows...)
}

// share adds a row of a share that may be absent.
func (b *block) share(name string, n *spec.Number) {
	if n != nil {
		b.add(row(name, percent(float64(n.Value)), of(*n)))
	}
}

// number adds a row of a number that may be absent, with three digits.
func (b *block) number(name, unit string, n *spec.Number) {
	if n != nil {
		b.add(row(name, strings.TrimSpace(Short(float64(n.Value))+" "+unit), of(*n)))
	}
}

// keep adds a block that has something to say.
func (s *section) keep(b block) {
	if b.Table != nil || len(b.Figures)+len(b.Warn) > 0 {
		s.Blocks = append(s.Blocks, b)
	}
}
