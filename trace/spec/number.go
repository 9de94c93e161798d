package spec

import (
	"fmt"
	"math"
	"strconv"
)

// From says where a number comes from.
type From string

// Measured on a log, estimated from one (by a tokenizer, by inference), or
// assumed by a person.
const (
	Measured From = "measured"
	Estimate From = "estimated"
	Assumed  From = "assumed"
)

func (f From) valid() bool { return f == Measured || f == Estimate || f == Assumed }

// Num is a number that is written with at most six significant digits.
type Num float64

// Round returns v as the file will hold it.
func Round(v float64) Num {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return Num(v + 0)
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return Num(r)
}

// MarshalJSON writes six significant digits; NaN and infinities are an error,
// since a number that is not known must be absent.
func (n Num) MarshalJSON() ([]byte, error) {
	v := float64(Round(float64(n)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("a number of the spec is %v", v)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.AppendFloat(nil, v, 'e', -1, 64), nil
	}
	return strconv.AppendFloat(nil, v, 'f', -1, 64), nil
}

// Number is a single number with its unit and where it comes from. N is the
// count of records behind it; Ask is the data request that would replace an
// assumed or estimated one.
type Number struct {
	Value Num    `json:"value"`
	Unit  string `json:"unit"`
	From  From   `json:"from"`
	N     int64  `json:"n,omitempty"`
	Ask   string `json:"ask,omitempty"`
	// Confidence is what the person who stated an assumed number says of it:
	// measured, estimated or guessed.
	Confidence string `json:"confidence,omitempty"`
}

// Confidences are what a stated number may rest on.
func Confidences() []string { return []string{"measured", "estimated", "guessed"} }

// Provenance is what a table carries once for all its numbers.
type Provenance struct {
	From From   `json:"from"`
	N    int64  `json:"n"`
	Ask  string `json:"ask,omitempty"`

	Confidence string `json:"confidence,omitempty"` // as of a Number
}

// MeasuredNumber returns a number measured on n records.
func MeasuredNumber(v float64, unit string, n int64) Number {
	return Number{Value: Round(v), Unit: unit, From: Measured, N: n}
}

// AssumedNumber returns a number that a person stated, with the data request
// that would replace it.
func AssumedNumber(v float64, unit, ask string) Number {
	return Number{Value: Round(v), Unit: unit, From: Assumed, Ask: ask}
}

// Nums rounds a slice.
func Nums(v []float64) []Num {
	out := make([]Num, len(v))
	for i := range v {
		out[i] = Round(v[i])
	}
	return out
}
