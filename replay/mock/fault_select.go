package mock

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Span is a length of time in text such as 250ms or 3s; never negative.
type Span time.Duration

// D is the span as the standard library has it.
func (s Span) D() time.Duration { return time.Duration(s) }

// String is the span in the form that is read.
func (s Span) String() string {
	text := time.Duration(s).String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	return text
}

// MarshalText writes a span.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a span of at most a year.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 || d > 365*24*time.Hour {
		return fmt.Errorf("%q is not a length of time such as 250ms or 3s", text)
	}
	*s = Span(d)
	return nil
}

// Window is a part of the time since the server's start: from From on, up to To
// but without it. A To of 0 is no end. In text: 10s-15s, or 10s- .
type Window struct {
	From, To Span
}

// String is the window in the form that is read; empty for the whole time.
func (w Window) String() string {
	switch {
	case w == Window{}:
		return ""
	case w.To == 0:
		return w.From.String() + "-"
	}
	return w.From.String() + "-" + w.To.String()
}

// MarshalText writes a window.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a window.
func (w *Window) UnmarshalText(text []byte) error {
	from, to, ok := strings.Cut(string(text), "-")
	var v Window
	if !ok || v.From.UnmarshalText([]byte(from)) != nil {
		return fmt.Errorf("%q is not a window of time such as 10s-15s or 10s-", text)
	}
	if to != "" && (v.To.UnmarshalText([]byte(to)) != nil || v.To <= v.From) {
		return fmt.Errorf("%q is not a window of time such as 10s-15s or 10s-", text)
	}
	*w = v
	return nil
}

// IsZero tells the whole time.
func (w Window) IsZero() bool { return w == Window{} }

// holds tells whether a time is in the window, which comes again every so often
// where every is not 0.
func (w Window) holds(at, every time.Duration) bool {
	if every > 0 {
		at %= every
	}
	return at >= w.From.D() && (w.To == 0 || at < w.To.D())
}

// Numbers is a set of numbers from 1, such as 1,5,9-12,100- in text. None at
// all is every number.
type Numbers []Range

// Range is the numbers From to To, both of them in it.
type Range struct {
	From, To int64
}

// String is the set in the form that is read.
func (n Numbers) String() string {
	parts := make([]string, len(n))
	for i, r := range n {
		from := strconv.FormatInt(r.From, 10)
		switch r.To {
		case r.From:
			parts[i] = from
		case math.MaxInt64:
			parts[i] = from + "-"
		default:
			parts[i] = from + "-" + strconv.FormatInt(r.To, 10)
		}
	}
	return strings.Join(parts, ",")
}

// MarshalText writes a set.
func (n Numbers) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a set.
func (n *Numbers) UnmarshalText(text []byte) error {
	var out Numbers
	for part := range strings.SplitSeq(string(text), ",") {
		r, ok := readRange(strings.TrimSpace(part))
		if !ok || len(out) >= 10000 {
			return fmt.Errorf("%q is not numbers of requests from 1, such as 1,5,9-12 or 100-", text)
		}
		out = append(out, r)
	}
	*n = out
	return nil
}

func readRange(part string) (Range, bool) {
	first, last, ranged := strings.Cut(part, "-")
	number := func(s string) (int64, bool) {
		v, err := strconv.ParseUint(s, 10, 62) // no sign, unlike ParseInt
		return int64(v), err == nil && v >= 1
	}
	from, ok := number(first)
	switch {
	case !ok:
		return Range{}, false
	case !ranged:
		return Range{from, from}, true
	case last == "":
		return Range{from, math.MaxInt64}, true
	}
	to, ok := number(last)
	return Range{from, to}, ok && to >= from
}

func (n Numbers) hold(k int64) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(r Range) bool { return k >= r.From && k <= r.To })
}
