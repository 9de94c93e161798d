package shape

import (
	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// transcript follows the threads of a log. Its requests have the row that ends
// the call (call), the first row of the answer (first), the last row before it
// (asked), the latest context, the session's row where a row is a session (row),
// the messages before, the joined answer (output), thread, id, parent and turn.
type transcript struct {
	file    *transcriptFile
	threads map[string]*thread
	order   []*thread
	row     *fastjson.Value // of which events are a list
	seen    map[[16]byte]bool
	ready   []*call
	arena   fastjson.Arena  // of the request that was given last
	keep    *fastjson.Arena // of the threads
	bytes   int             // of the rows that threads hold
	limit   int             // of those
	count   Counts
}

func newTranscript(f *transcriptFile) *transcript {
	return &transcript{file: f, threads: map[string]*thread{}, seen: map[[16]byte]bool{}, keep: &fastjson.Arena{}, limit: maxHeldBytes}
}

func (t *transcript) add(pos rows.Pos, v *fastjson.Value) {
	t.count.Rows++
	row, n := cloneValue(v)
	if row == nil {
		return
	}
	if t.bytes += n; t.bytes > t.limit {
		t.forget(n)
	}
	for _, path := range t.file.List {
		if list := notation.List(notation.Lookup(row, path)); list != nil {
			t.row = row
			for _, event := range list {
				t.event(pos, event)
			}
			t.end(false)
			t.row = nil
			return
		}
	}
	t.event(pos, row)
}

// cloneValue copies a value out of a container's buffers; size is its bytes.
func cloneValue(v *fastjson.Value) (row *fastjson.Value, size int) {
	b := notation.AppendValue(nil, v)
	row, err := fastjson.ParseBytes(b)
	if err != nil { // nested deeper than the parser goes
		return nil, 0
	}
	return row, len(b)
}

// forget drops what was said in all threads, when it is more than memory should
// hold. The prompts of later calls count as cut.
func (t *transcript) forget(bytes int) {
	for _, th := range t.order {
		th.history, th.later, th.cut = nil, nil, true
	}
	t.bytes = bytes
}

func (t *transcript) event(pos rows.Pos, row *fastjson.Value) {
	if t.file.Skip.any(row) {
		return
	}
	th := t.thread(pos, row)
	switch f := t.file; {
	case f.Reset.any(row):
		t.reset(th, row)
	case f.Context.any(row):
		th.context = row
	case f.Close.any(row):
		t.closing(th, pos, row)
	case f.Answer.any(row):
		t.answer(th, pos, row)
	default:
		t.said(th, row)
	}
}

func (t *transcript) end(bool) {
	for _, th := range t.order {
		t.finish(th)
	}
	clear(t.threads)
	t.order = t.order[:0]
	t.keep, t.bytes = &fastjson.Arena{}, 0
}

func (t *transcript) next() (rows.Pos, *fastjson.Value, bool) {
	if len(t.ready) == 0 {
		return rows.Pos{}, nil, false
	}
	c := t.ready[0]
	t.ready[0] = nil
	t.ready = t.ready[1:]
	t.count.Requests++
	return c.pos, t.request(c), true
}

// request builds the row of a call.
func (t *transcript) request(c *call) *fastjson.Value {
	a := &t.arena
	a.Reset()
	out := a.NewObject()
	for _, part := range []struct {
		key string
		v   *fastjson.Value
	}{{"row", c.row}, {"call", c.last}, {"first", c.first}, {"asked", c.asked}, {"context", c.context}} {
		if part.v != nil {
			out.Set(part.key, part.v)
		}
	}
	asked := c.history
	if c.cut || t.headless(asked) {
		if notation.LookupText(c.last, t.file.Usage...) != "" {
			asked = nil
		}
		asked = append([]*fastjson.Value{absentMessage(a, "system")}, asked...)
	}
	for _, list := range []struct {
		key  string
		from []*fastjson.Value
	}{{"messages", asked}, {"output", c.parts}} {
		if len(list.from) == 0 {
			continue
		}
		v := a.NewArray()
		for i, m := range list.from {
			v.SetArrayItem(i, m)
		}
		out.Set(list.key, v)
	}
	out.Set("thread", a.NewString(c.thread))
	out.Set("id", a.NewString(c.id))
	if c.parent != "" {
		out.Set("parent", a.NewString(c.parent))
	}
	out.Set("turn", a.NewNumberInt(c.turn))
	return out
}

func (t *transcript) Counts() Counts { return t.count }
