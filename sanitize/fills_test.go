package sanitize

import (
	"strings"
	"testing"

	"reprise/ingest"
)

// full is a log that tells everything.
func full() Evidence {
	e := Evidence{Requests: 10_000, Timed: true, ResolutionUS: 1000, SpanS: 90_000, Prompts: 10_000}
	for f := ingest.FieldArrival; f <= ingest.FieldBlocks; f++ {
		e.Coverage = append(e.Coverage, ingest.Coverage{Field: f, Rows: 10_000})
	}
	return e
}

func (e Evidence) without(fields ...ingest.Field) Evidence {
	var kept []ingest.Coverage
next:
	for _, c := range e.Coverage {
		for _, f := range fields {
			if c.Field == f {
				continue next
			}
		}
		kept = append(kept, c)
	}
	e.Coverage = kept
	return e
}

func fill(t *testing.T, e Evidence, row string) Fill {
	t.Helper()
	for _, f := range Fills(e) {
		if f.Row == row {
			return f
		}
	}
	t.Fatalf("no row %q", row)
	return Fill{}
}

// TestFills takes one thing after another out of a log that tells everything.
func TestFills(t *testing.T) {
	for _, f := range Fills(full()) {
		if f.Confidence != Full || f.Ask != "" {
			t.Errorf("%s of a full log is %s, and asks %q", f.Row, f.Confidence, f.Ask)
		}
	}
	few, coarse, short, untimed := full(), full(), full(), full()
	few.Requests, coarse.ResolutionUS, short.SpanS, untimed.Timed = 26, 1_000_000, 3600, false
	promptless := full().without(ingest.FieldPrompt, ingest.FieldMessages, ingest.FieldBlocks)
	promptless.Prompts = 0
	uncached := promptless.without(ingest.FieldCachedTokens)
	for _, c := range []struct {
		e    Evidence
		row  string
		want Confidence
		why  string
	}{
		{few, "lengths.input", Part, "26 requests are few"},
		{coarse, "arrivals", Part, "time stamps at 1 s"},
		{short, "arrivals", Part, "1 h of log"},
		{untimed, "arrivals", Missing, "no times"},
		{full().without(ingest.FieldArrival), "arrivals", Part, "worked out"},
		{full().without(ingest.FieldInputTokens), "lengths.input", Part, "counted from the text"},
		{full().without(ingest.FieldOutputTokens, ingest.FieldOutput), "lengths.output", Missing, "neither"},
		{promptless, "prefix", Part, "cached tokens"},
		{uncached, "prefix", Missing, ""},
		{full().without(ingest.FieldSession), "sessions", Full, ""},
		{full().without(ingest.FieldSession, ingest.FieldParent), "sessions", Missing, ""},
		{full().without(ingest.FieldTTFT, ingest.FieldFirstToken), "latency.today", Part, ""},
	} {
		f := fill(t, c.e, c.row)
		if f.Confidence != c.want || !strings.Contains(f.Why, c.why) || f.Confidence == Missing && f.Ask == "" {
			t.Errorf("%s is %s (%s), want %s (%s); asks %q", c.row, f.Confidence, f.Why, c.want, c.why, f.Ask)
		}
	}
}
