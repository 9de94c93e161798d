package report

import (
	"fmt"

	"reprise/replay"
)

// How far the server's usage and our own count of the text may be apart until
// one of them is no count of the answer. Two tokenizers differ by a tenth on one
// text; an answer whose usage is half as much again holds tokens that never came
// (or ours lacks some that did), and its time per token is not known.
const (
	farTimes = 1.5
	farSlack = 3 // tokens: of a short answer one more or less is much
)

// far reports whether usage and our own count of an answer cannot both be true.
func far(r *replay.Result) bool {
	if !r.OutUsage.OK || !r.OutLocal.OK {
		return false
	}
	a, b := int64(r.OutUsage.V), int64(r.OutLocal.V)
	return max(a, b)-min(a, b) > farSlack && disagree(a, b)
}

// disagree tells that one count is over farTimes the other.
func disagree(a, b int64) bool { return float64(max(a, b)) > farTimes*float64(min(a, b)) }

// doubt says why nothing counted in output tokens can be believed: usage and our
// own count are apart over all answers, or in more than a few of them. It is
// empty otherwise.
func (t *tokenSums) doubt() string {
	switch {
	case t.usageN == 0:
		return ""
	case disagree(t.usageSum, t.localSum):
		return fmt.Sprintf("the server's usage claims %s output tokens where %s came by our own count (%s)", count(t.usageSum), count(t.localSum), timesText(t.usageSum, t.localSum))
	case float64(t.far) > unknown*float64(t.usageN):
		return fmt.Sprintf("in %s of %s the server's usage and our own count of output tokens are over %.1f times apart (%s by usage, %s by ours)", count(t.far), plural(t.usageN, "answer"), farTimes, count(t.usageSum), count(t.localSum))
	}
	return ""
}

// timesText is a over b as a factor.
func timesText(a, b int64) string {
	if b == 0 {
		return "none of them"
	}
	return fmt.Sprintf("%.2f times as many", float64(a)/float64(b))
}
