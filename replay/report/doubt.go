package report

import (
	"fmt"
	"math"
	"slices"

	"reprise/replay"
)

// The shares of tokens by which what the server counted may differ from what
// was planned: above loud it is said on top; above another it was another load,
// and no limit can be judged by it.
const (
	loudIn  = 0.01
	loudOut = 0.05
	another = 0.05
	unknown = 0.05 // share of answers of unknown TPOT above which there is no goodput under a TPOT limit
)

// doubt says why nothing can be concluded from the run, empty when all can.
func (s *Summary) doubt() string {
	switch {
	case s.Source.Status == replay.Aborted:
		return "the run was aborted" + because(s.Source.AbortReason)
	case s.Source.Status.Open():
		return "the run did not end: it " + fate(s.Source.Status, s.Source.AbortReason) + ", and " + s.have()
	case math.Abs(s.Tokens.InAsked.off()) > another:
		return "it was another load: " + s.Tokens.InAsked.text("input") + "; replay with the server's tokenizer"
	}
	return ""
}

// fate is what became of a run that did not end. Where it could still say why,
// it was not killed out of the blue.
func fate(s replay.Status, why string) string {
	switch {
	case s == replay.Killed && why != "":
		return "was cut off" + because(why)
	case s == replay.Killed:
		return "was killed"
	}
	return "still runs or was killed" + because(why)
}

// have says how many results are missing, where that is known.
func (s *Summary) have() string {
	switch n := s.Load.Missing; {
	case n == 1:
		return "1 request has no result"
	case n == 0 && s.Load.timed:
		return "what was under way has no result"
	default:
		return count(n) + " requests have no result"
	}
}

// mismatch says on top by how much the load was not the planned one.
func (s *Summary) mismatch() (out string) {
	if math.Abs(s.Tokens.InAsked.off()) > loudIn {
		out += " Of the load: " + s.Tokens.InAsked.text("input") + "."
	}
	if math.Abs(s.Tokens.OutAsked.off()) > loudOut {
		out += " Of the answers: " + s.Tokens.OutAsked.text("output") + "."
	}
	if x := &s.Streams; s.Source.Endpoint.Streaming && float64(x.Few) > unknown*float64(x.N) {
		out += fmt.Sprintf(" %s of %s answers came in too few events to have a TPOT.", count(x.Few), count(x.N))
	}
	if s.Tokens.Doubt != "" && !slices.ContainsFunc(s.SLO, func(x SLOResult) bool { return x.Metric == "tpot" }) { // there it is in the reason
		out += " Of the tokens: " + s.Tokens.Doubt + "."
	}
	return out
}

// off is how much more was counted than asked, as a share of what was asked.
func (a Asked) off() float64 {
	if a.N == 0 || a.Asked == 0 {
		return 0
	}
	return float64(a.Got-a.Asked) / float64(a.Asked)
}

func (a Asked) text(what string) string {
	more, off := "more", a.off()
	if off < 0 {
		more, off = "fewer", -off
	}
	return fmt.Sprintf("%s %s %s %s tokens than planned (%s for %s)", a.counter(), shareText(&off), more, what, count(a.Got), count(a.Asked))
}

// counter is who counted.
func (a Asked) counter() string {
	switch {
	case a.Local == 0:
		return "the server counted"
	case a.Local == a.N:
		return "our own tokenizer, since the server gave no usage, counted"
	}
	return fmt.Sprintf("the server, and our own tokenizer for the %s of %s without usage, counted", count(a.Local), plural(a.N, "answer"))
}

// source is by what Got was counted.
func (a Asked) source() string {
	switch {
	case a.Local == 0:
		return "by usage"
	case a.Local == a.N:
		return "by our own count"
	}
	return "by usage and our own count"
}
