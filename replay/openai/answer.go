package openai

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/replay"
	"reprise/trace"
)

// answer reads the body of a 200: a stream of events, or one JSON object from
// a server that does not stream.
type answer struct {
	r    *replay.Result
	sse  Parser
	form form
	head []byte // until the form is known
	now  int64  // stamp of the read at hand
	seen int64  // stamp of the last read that brought content, -1 at first

	choice  bool // a choice came
	some    bool // content, reasoning or a tool call came
	done    bool // [DONE] came
	reasons bool // reasoning came
	deep    bool // the stack is one that many share
	naming  bool // note the model that the answer names
	model   string
	asked   bool  // for the answer's id
	own     bool  // it has one, and no header gave any
	several bool  // more than one choice was asked for
	counted int32 // output tokens of usages that came by themselves
	chunk   chunk // of the event at hand
	odd     int   // events that the scan was not sure of
	chars   int32
	secrets secrets
	over    bool         // what is wrong makes the rest useless
	clock   func() int64 // of the run, where a mock's stamps are wanted
	class   replay.Class // StreamError once something is wrong
	reason  string
}

// form is what a body turns out to be.
type form uint8

const (
	unknown form = iota
	stream
	object
	page
	gzipped
	garbage
)

// maxObject bounds an answer that is not streamed.
const maxObject = 64 << 20

// maxBlank bounds the blanks before an answer: some servers send them while it is
// made.
const maxBlank = 16 << 10

func newAnswer(r *replay.Result) *answer {
	a := &answer{r: r, seen: -1}
	a.sse.On = a.event
	a.sse.Broken = func(b []byte) {
		if v := gjson.ParseBytes(b); gjson.ValidBytes(b) && v.IsObject() {
			b = []byte(errorMessage(v))
		}
		a.fail("the server sent an error in the stream: " + a.quote(string(b)))
	}
	return a
}

// push takes the bytes of one read, stamped now.
func (a *answer) push(b []byte, now int64) {
	a.now = now
	if a.form == unknown {
		a.head = append(a.head, b...)
		b = a.head
		if a.form = sniff(b); a.form == unknown && len(b) <= maxBlank {
			return
		}
		if a.form == unknown {
			a.form, a.over = garbage, true
		}
		a.head = nil
	}
	switch a.form {
	case stream:
		if err := a.sse.Push(b); err != nil {
			a.fail(err.Error())
			a.over = true // an event without an end would be kept for ever
		}
	case object:
		if a.head = append(a.head, b...); len(a.head) > maxObject {
			a.fail("the answer is larger than 64 MiB")
			a.head, a.over = nil, true
		}
	}
}

// sniff tells the form by the first bytes that are not blank.
func sniff(b []byte) form {
	s := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(s) == 0 {
		return unknown
	}
	switch s[0] {
	case 0x1f:
		return gzipped
	case '{', '[':
		return object
	case '<':
		return page
	case ':':
		return stream
	}
	for _, field := range []string{"data", "event", "id", "retry", "error"} {
		k := min(len(s), len(field))
		if string(s[:k]) != field[:k] {
			continue
		}
		if len(s) == k {
			return unknown // more may come
		}
		if bytes.IndexByte([]byte(":\r\n"), s[k]) >= 0 {
			return stream
		}
	}
	return garbage
}

// fail notes what is wrong; the first word counts.
func (a *answer) fail(reason string) {
	if a.class == replay.OK {
		a.class, a.reason = replay.StreamError, reason
	}
}

func (a *answer) event(typ, data []byte) {
	if a.done {
		return
	}
	if !a.r.FirstEvent.OK {
		a.r.FirstEvent = trace.Some(a.now)
	}
	data = bytes.TrimSpace(data)
	switch {
	case string(data) == "[DONE]":
		a.done, a.r.End = true, trace.Some(a.now)
		return
	case string(typ) == "error":
		a.failEvent(data)
		return
	case len(data) == 0:
		return
	}
	if a.naming && a.model == "" {
		a.model = modelOf(data)
	}
	c := a.parse(data)
	if c.invalid || c.failed {
		a.failChunk(c)
	}
	if c.invalid {
		return
	}
	if !a.asked {
		aside(func() { a.identify(data) })
	}
	a.count(c)
	if c.content || c.reason || c.tool {
		a.token(c)
	}
}

// maxAside is how many unusual events of an answer are read on another stack.
const maxAside = 4

// parse reads the JSON of an event. The general parser goes deep: the stack of a
// stream's goroutine would stay twice as large for the one or two events that
// need it. Where most do, that is what it takes.
func (a *answer) parse(data []byte) *chunk {
	c := &a.chunk
	*c = chunk{}
	if c.scan(data) {
		return c
	}
	if a.odd++; a.odd > maxAside || a.deep {
		c.general(data)
		return c
	}
	aside(func() { c.general(data) })
	return c
}

// general is readChunk in place, in a frame of its own.
//
//go:noinline
func (c *chunk) general(data []byte) { *c = readChunk(data) }

func (a *answer) failEvent(data []byte) {
	a.fail("the server sent an error event: " + a.quote(errorMessage(gjson.ParseBytes(data))))
}

func (a *answer) failChunk(c *chunk) {
	if c.invalid {
		a.fail("an event of the stream is not a JSON object")
		return
	}
	a.fail("the server sent an error in the stream: " + a.quote(c.message))
}

// quote is what the server says, fit for one line and without secrets of ours.
func (a *answer) quote(say string) string { return oneLine(a.secrets.blot(say)) }

// modelOf returns the model that an answer or an event names.
func modelOf(data []byte) string {
	if !gjson.ValidBytes(data) {
		return ""
	}
	return printable(gjson.GetBytes(data, "model").Str)
}

// identify takes the id of an answer for the request's where no header gave one:
// vLLM logs by it.
func (a *answer) identify(data []byte) {
	a.asked = true
	if a.r.ServerRequestID != "" {
		return
	}
	if id := gjson.GetBytes(data, "id"); id.Type == gjson.String && id.Str != "" {
		a.own, a.r.ServerRequestID = true, printable(a.secrets.blot(id.Str))
	}
}

// count takes what is not a matter of time.
func (a *answer) count(c *chunk) {
	a.choice = a.choice || c.choice
	a.some = a.some || c.content || c.reason || c.tool
	a.chars += c.chars
	if a.r.Said != nil {
		keep(a.r.Said, c.index, &c.said)
		for i := range c.more {
			keep(a.r.Said, c.more[i].index, &c.more[i].said)
		}
	}
	if c.finish != trace.FinishUnknown {
		a.r.Finish = c.finish
	}
	if a.several && !c.choice && c.usage.out.OK {
		// llama.cpp sends one behind each choice, of that choice; vLLM and OpenAI one
		// of all. What stands beside a choice counts so far and is overtaken.
		a.counted += c.usage.out.V
		c.usage.out.V = a.counted
	}
	for _, u := range []struct{ to, from *trace.Opt[int32] }{
		{&a.r.InUsage, &c.usage.in}, {&a.r.OutUsage, &c.usage.out}, {&a.r.Cached, &c.usage.cached}} {
		if u.from.OK {
			*u.to = *u.from
		}
	}
}

// keep appends what a choice says to the texts of the answer.
func keep(to *replay.Said, index int32, said *[3][]byte) {
	to = to.Choice(index)
	to.Content = append(to.Content, said[0]...)
	to.Reasoning = append(to.Reasoning, said[1]...)
	to.Tool = append(to.Tool, said[2]...)
}

// token stamps an event with content. Gaps are whole µs since the first
// content, so that they add up.
func (a *answer) token(c *chunk) {
	r := a.r
	if !r.FirstContent.OK {
		r.FirstContent = trace.Some(a.now)
	} else {
		first := r.FirstContent.V
		r.Gaps = append(r.Gaps, int32(min((a.now-first)/1000-(r.LastContent.V-first)/1000, 1<<31-1)))
	}
	if a.now != a.seen {
		a.seen = a.now
		r.NReads++
	}
	if (c.content || c.tool) && a.reasons && !r.FirstAnswer.OK {
		r.FirstAnswer = trace.Some(a.now)
	}
	a.reasons = a.reasons || c.reason
	r.LastContent = trace.Some(a.now)
	r.NEvents++
	if r.Far != nil && c.far > 0 {
		r.Far.Sent, r.Far.Read = append(r.Far.Sent, c.far), append(r.Far.Read, a.clock()-a.now)
	}
}

// end judges a body that ended, whole or cut, at now.
func (a *answer) end(whole bool, now int64) {
	r := a.r
	if a.form == unknown && len(a.head) > 0 {
		a.form = garbage
	}
	a.finishForm(whole)
	a.mustSay()
	if !r.End.OK {
		r.End = trace.Some(now)
	}
	if a.form == stream || a.form == object {
		r.OutChars = trace.Some(a.chars)
	}
	r.Class, r.Reason = a.class, a.reason
}

func (a *answer) finishForm(whole bool) {
	switch a.form {
	case stream:
		a.endStream(whole)
	case object:
		a.endObject(whole)
	case page:
		a.fail("the endpoint answers HTML, not JSON: is the URL right?")
		a.r.Hopeless = true
	case gzipped:
		a.fail("the answer is compressed (gzip) though that was not asked for")
		a.r.Hopeless = true
	case garbage:
		a.fail("the answer is neither events nor JSON: is the URL right?")
		a.r.Hopeless = true
	default:
		if whole {
			a.fail("the answer is empty")
		} else {
			a.cut("the connection ended before the body")
		}
	}
}

func (a *answer) cut(reason string) {
	if a.class == replay.OK {
		a.class, a.reason = replay.Truncated, reason
	}
}

func (a *answer) endStream(whole bool) {
	a.finished()
	rest, pending := a.sse.Rest()
	if !a.done && string(bytes.TrimSpace(rest)) == "[DONE]" {
		a.done = true // all there but the last blank line
	}
	switch {
	case a.done && !a.choice:
		a.fail("the stream has no choice in it")
	case a.done:
	case !whole:
		a.cut("the connection ended inside the stream")
	case pending:
		a.cut("the body ended inside an event")
	case a.class == replay.OK:
		a.class, a.reason = replay.NoDone, "the stream ended without [DONE]"
	}
}

// endObject reads an answer that was not streamed: it has no first token.
func (a *answer) endObject(whole bool) {
	if !whole {
		a.cut("the connection ended inside the answer")
		return
	}
	if a.naming {
		a.model = modelOf(a.head)
	}
	c := readChunk(a.head)
	switch {
	case c.invalid:
		a.fail("the answer is not a JSON object")
	case c.failed:
		a.fail("the server answered 200 with an error: " + a.quote(c.message))
	case !c.choice:
		a.fail("the answer has no choice in it")
	default:
		a.identify(a.head)
		a.count(&c)
		a.finished()
	}
}

// finished fails an answer that the server itself says it broke off.
func (a *answer) finished() {
	if f := a.r.Finish; f == trace.FinishError || f == trace.FinishCancelled {
		a.fail("the server broke the answer off (finish reason " + f.String() + ")")
	}
}

// oneLine makes a server's message fit for one line of ours.
func oneLine(s string) string {
	out := []rune{}
	for _, c := range s {
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		if out = append(out, c); len(out) == 200 {
			out = append(out, '…')
			break
		}
	}
	if len(out) == 0 {
		return "(no message)"
	}
	return string(out)
}
