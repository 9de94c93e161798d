package openai

import (
	"fmt"

	"reprise/replay"
	"reprise/trace"
)

// mustSay fails an answer that ends well and says nothing, no content, reasoning
// or tool call, though output was asked for: there is no token to time, and the
// moment that it took would meet any limit on E2E. Whatever the server counts, it
// is none: of tokens that nothing shows a client knows only the server's word. It
// is none either where the model itself ended at once (stop, and no more than the
// end counted): that is a thing of the load and not of the server, so the reason
// says so, but nobody was served. One token alone may well show nothing, such as
// the end of the answer or the mark before its reasoning, and passes.
//
// artifacts.md has no class of its own for it: the stream is at fault.
func (a *answer) mustSay() {
	r := a.r
	asked, counted := r.OutAsked.Or(0), r.OutUsage.Or(-1)
	if a.class != replay.OK || a.some || asked < 1 || asked == 1 && counted <= 1 {
		return
	}
	end := ""
	if r.Finish != trace.FinishUnknown {
		end = " (finish reason " + r.Finish.String() + ")"
	}
	switch {
	case counted > 1:
		a.fail(fmt.Sprintf("the answer has no content, reasoning or tool call, though the server counts %d tokens%s", counted, end))
	case r.Finish == trace.FinishStop && counted >= 0:
		a.fail(fmt.Sprintf("the model ended the answer at once, without content, reasoning or tool call%s, and %d tokens were asked for: ask for it to write on by --ignore-eos on, or see whether the server heeds that", end, asked))
	default:
		a.fail(fmt.Sprintf("the answer has no content, reasoning or tool call%s, and %d tokens were asked for", end, asked))
	}
}
