package report

import (
	"strings"
	"testing"

	"reprise/replay"
)

// claimed has n answers of local tokens each, whose usage says usage.
func claimed(n int, usage, local int32) []replay.Result {
	rs := ramp(n)
	for i := range rs {
		r := &rs[i]
		r.OutAsked, r.OutUsage, r.OutLocal = some32(usage), some32(usage), some32(local)
	}
	return rs
}

// A server that claims tokens which did not come has no time per token, no
// tokens per second and no goodput under a TPOT limit, and the headline says why;
// the tenth by which two tokenizers differ is believed.
func TestUsageFarFromOurCount(t *testing.T) {
	const limit = 1000
	for _, c := range []struct {
		name string
		rs   []replay.Result
		want Verdict
	}{
		{"claims all, sends a third", claimed(200, 39, 15), CannotSay},
		{"claims a third of what came", claimed(200, 10, 40), CannotSay},
		{"claims one token of many", claimed(200, 1, 40), CannotSay},
		{"short answers, all of them doubled", claimed(200, 4, 2), CannotSay},
		{"a tenth of the answers are claimed", append(claimed(180, 40, 40), claimed(20, 40, 13)...), CannotSay},
		{"another tokenizer", claimed(200, 44, 40), Met},
		{"a tokenizer far off", claimed(200, 58, 40), Met},
		{"short answers, one token off", append(claimed(100, 3, 2), claimed(200, 3, 3)...), Met},
		{"one answer of many", append(claimed(400, 40, 40), claimed(1, 40, 13)...), Met},
	} {
		rep := build(t, Input{Run: testRun(slo("tpot", 90, limit)), Results: seq(c.rs)})
		s := &rep.Summaries[0]
		if rep.Verdict != c.want {
			t.Errorf("%s: %s: %s", c.name, rep.Verdict, rep.Headline)
			continue
		}
		if unsure := c.want == CannotSay; (s.Tokens.OutPerS == nil) != unsure || (s.Goodput.Good == nil) != unsure || unsure != (rep.Exit == 4) {
			t.Errorf("%s: tokens/s %v, goodput %+v, exit %d", c.name, s.Tokens.OutPerS, s.Goodput, rep.Exit)
		}
		if c.want == CannotSay && (!strings.Contains(rep.Headline, "usage") || !strings.Contains(rep.Headline, "our own count")) {
			t.Errorf("%s: the headline does not say why: %s", c.name, rep.Headline)
		}
	}
}

// No sentence of the report believes what another doubts.
func TestDoubtedUsageIsDoubtedThroughout(t *testing.T) {
	rs := claimed(200, 39, 15)
	for i := range rs {
		rs[i].NEvents, rs[i].NReads = 15, 15
	}
	rep := build(t, Input{Run: testRun(slo("tpot", 90, 8), slo("e2e", 90, 5000)), Results: seq(rs)})
	var b strings.Builder
	if err := rep.Text(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, not := range []string{"TPOT is by token count and holds", "Output length as asked 100 %", "met every limit"} {
		if strings.Contains(text, not) {
			t.Errorf("the report says %q", not)
		}
	}
	for _, want := range []string{"claims 7,800 output tokens where 3,000 came by our own count (2.60 times as many)", "Output tokens/s n/a", "Output length as asked n/a"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}
