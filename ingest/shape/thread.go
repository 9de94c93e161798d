package shape

import (
	"crypto/sha256"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// thread is one chain of messages.
type thread struct {
	name    string
	history []*fastjson.Value
	later   []*fastjson.Value // said while a call was open
	cut     bool              // what was said at first is no longer held
	asked   *fastjson.Value
	context *fastjson.Value
	total   string
	open    *call
	turn    int
	parent  string
}

// call is one request to the model.
type call struct {
	pos                rows.Pos
	thread, id, parent string
	named              bool // id is the log's
	turn               int
	history, parts     []*fastjson.Value
	cut                bool
	row, first, last   *fastjson.Value
	asked, context     *fastjson.Value
}

// joined are the texts at the paths that a row has, with slashes between them.
func joined(row *fastjson.Value, paths []string) string {
	var parts []string
	for _, path := range paths {
		if s := notation.LookupText(row, path); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "/")
}

// thread is the chain that a row belongs to. A resumed session repeats its rows
// in another file, so each file has threads of its own.
func (t *transcript) thread(pos rows.Pos, row *fastjson.Value) *thread {
	name := joined(row, t.file.Thread)
	if t.row != nil {
		name = joined(t.row, t.file.Thread)
	}
	if name == "" {
		base := filepath.Base(pos.File)
		name = strings.TrimSuffix(base, filepath.Ext(base))
		if t.row != nil {
			name += "#" + strconv.FormatInt(pos.Item, 10)
		}
	}
	th := t.threads[name]
	if th == nil {
		th = &thread{name: name}
		t.threads[name] = th
		t.order = append(t.order, th)
	}
	return th
}

// reset drops what was said before, as a new session or a summary does. The
// row may hold the message that takes its place.
func (t *transcript) reset(th *thread, row *fastjson.Value) {
	t.finish(th)
	th.history, th.later, th.asked = nil, nil, nil
	if name := joined(row, t.file.Name); name != "" && name != th.name {
		th.name, th.turn, th.parent, th.total = name, 0, "", ""
	}
	if m := t.message(row, t.file.After); m != nil {
		th.history = append(th.history, m)
	}
}

// said takes a row that is no answer: a person's words, a tool's result, or
// nothing that the model sees.
func (t *transcript) said(th *thread, row *fastjson.Value) {
	m := t.message(row, t.file.Said)
	if m == nil {
		return
	}
	if th.open != nil {
		th.later = append(th.later, m)
	} else {
		th.history = append(th.history, m)
	}
	th.asked = row
}

// message is what a row adds to the conversation, nil for nothing.
func (t *transcript) message(row *fastjson.Value, paths []string) *fastjson.Value {
	for _, path := range paths {
		m := notation.Lookup(row, path)
		if m == nil {
			continue
		}
		if m.Type() == fastjson.TypeString || m.Type() == fastjson.TypeArray {
			n := t.keep.NewObject()
			n.Set("content", m)
			m = n
		}
		if m.Type() != fastjson.TypeObject || m.GetObject().Len() == 0 {
			continue
		}
		if role := t.role(row); m.Get("role") == nil && role != "" {
			m.Set("role", t.keep.NewString(role))
		}
		return m
	}
	return nil
}

// role is who speaks in a row whose message does not say so.
func (t *transcript) role(row *fastjson.Value) string {
	for _, r := range t.file.Roles {
		if r.When.holds(row) {
			return r.Role
		}
	}
	return notation.LookupText(row, t.file.Role...)
}

// answer takes an answer or a part of one. Parts of one call have its id;
// answers without ids are calls of their own, unless a row closes them.
func (t *transcript) answer(th *thread, pos rows.Pos, row *fastjson.Value) {
	id := joined(row, t.file.Call)
	same := th.open != nil && (len(t.file.Close) > 0 || (id != "" && id == th.open.id))
	if !same {
		t.begin(th, pos, row, id)
	}
	th.open.last = row
	paths := t.file.Reply
	if len(paths) == 0 {
		paths = t.file.Said
	}
	if m := t.message(row, paths); m != nil {
		th.open.parts = append(th.open.parts, m)
	}
}

// begin opens a call with what was said so far.
func (t *transcript) begin(th *thread, pos rows.Pos, row *fastjson.Value, id string) {
	t.finish(th)
	c := &call{pos: pos, thread: th.name, id: id, named: id != "", row: t.row, first: row, last: row,
		asked: th.asked, context: th.context, history: th.history[:len(th.history):len(th.history)], cut: th.cut}
	th.open, th.asked = c, nil
}

// closing takes the row that ends a call.
func (t *transcript) closing(th *thread, pos rows.Pos, row *fastjson.Value) {
	if t.file.Total != "" {
		total := notation.Lookup(row, t.file.Total)
		if total == nil { // says something else
			return
		}
		now := notation.Text(total)
		if now == th.total {
			t.count.copies++
			return
		}
		th.total = now
	}
	if th.open == nil {
		t.begin(th, pos, row, "")
	}
	th.open.last = row
	t.finish(th)
}

// finish makes the open call a request and its answer part of the history. A
// call that was in another file before is no request again.
func (t *transcript) finish(th *thread) {
	c := th.open
	if c == nil {
		return
	}
	th.open = nil
	th.history = append(append(th.history, c.parts...), th.later...)
	th.later = nil
	if !c.named {
		c.id = th.name + "#" + strconv.Itoa(th.turn)
	}
	c.turn, c.parent = th.turn, th.parent
	th.turn, th.parent = th.turn+1, c.id
	if c.named {
		sum := sha256.Sum256([]byte(c.id))
		key := [16]byte(sum[:16])
		if t.seen[key] {
			t.count.copies++
			return
		}
		t.seen[key] = true
	}
	t.ready = append(t.ready, c)
}

// headless says that the log leaves out what was sent before the conversation.
func (t *transcript) headless(history []*fastjson.Value) bool {
	switch t.file.Head {
	case "missing":
		return true
	case "system":
		return len(history) == 0 || string(history[0].GetStringBytes("role")) != "system"
	}
	return false
}
