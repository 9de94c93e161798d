package ingest

import (
	"crypto/sha256"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// transcriptFile says how to read the file that an agent writes as it goes: one
// row an event. A request is what one call to the model was: its prompt is all
// that was said before in the same thread, its answer may be spread over rows.
type transcriptFile struct {
	List    []string   `yaml:"list"`    // paths of the list of events, when a row is a whole session
	Thread  []string   `yaml:"thread"`  // paths that together name a thread; the file's name where all are absent
	Skip    conditions `yaml:"skip"`    // rows that are copies or about something else
	Reset   conditions `yaml:"reset"`   // rows at which what was said before is dropped
	Name    []string   `yaml:"name"`    // paths of a new name for the thread, in such rows
	After   []string   `yaml:"after"`   // paths of the message that takes the dropped ones' place
	Context conditions `yaml:"context"` // rows that hold for the calls after them
	Said    []string   `yaml:"said"`    // paths of the message in a row that is no answer
	Role    []string   `yaml:"role"`    // paths of who speaks, for messages that have no role themselves
	Roles   []roleFile `yaml:"roles"`   // who speaks in rows of a kind; the first that holds
	Head    string     `yaml:"head"`    // missing: what is sent before the conversation is not in the log; system: unless a system message is
	Answer  conditions `yaml:"answer"`  // rows that are an answer or a part of one
	Reply   []string   `yaml:"reply"`   // paths of the message in an answer; as said when not given
	Call    []string   `yaml:"call"`    // paths that together name the call that an answer is of
	Close   conditions `yaml:"close"`   // rows that end a call and hold its usage
	Usage   []string   `yaml:"usage"`   // paths of counts of tokens: with them, messages behind a missing head count nothing and are left out
	Total   string     `yaml:"total"`   // path of a running total in such rows: where it has not moved there was no call
}

// roleFile names who speaks in rows for which a condition holds.
type roleFile struct {
	Role string    `yaml:"role"`
	When condition `yaml:"when"`
}

func (f *transcriptFile) check() error {
	if f.Head != "" && f.Head != "missing" && f.Head != "system" {
		return errors.New("the head of a transcript can be missing or system")
	}
	if len(f.Said) == 0 || len(f.Answer)+len(f.Close) == 0 {
		return errors.New("a transcript needs said, and answer or close")
	}
	return nil
}

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
	count   shapeCounts
}

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
	pos                Pos
	thread, id, parent string
	named              bool // id is the log's
	turn               int
	history, parts     []*fastjson.Value
	cut                bool
	row, first, last   *fastjson.Value
	asked, context     *fastjson.Value
}

func newTranscript(f *transcriptFile) *transcript {
	return &transcript{file: f, threads: map[string]*thread{}, seen: map[[16]byte]bool{}, keep: &fastjson.Arena{}, limit: maxHeldBytes}
}

func (t *transcript) add(pos Pos, v *fastjson.Value) {
	t.count.rows++
	row, n := cloneValue(v)
	if row == nil {
		return
	}
	if t.bytes += n; t.bytes > t.limit {
		t.forget(n)
	}
	for _, path := range t.file.List {
		if list := listOf(lookup(row, path)); list != nil {
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
	b := v.MarshalTo(nil)
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

func (t *transcript) event(pos Pos, row *fastjson.Value) {
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

// joined are the texts at the paths that a row has, with slashes between them.
func joined(row *fastjson.Value, paths []string) string {
	var parts []string
	for _, path := range paths {
		if s := lookupText(row, path); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "/")
}

// thread is the chain that a row belongs to. A resumed session repeats its rows
// in another file, so each file has threads of its own.
func (t *transcript) thread(pos Pos, row *fastjson.Value) *thread {
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
		m := lookup(row, path)
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
	return lookupText(row, t.file.Role...)
}

// answer takes an answer or a part of one. Parts of one call have its id;
// answers without ids are calls of their own, unless a row closes them.
func (t *transcript) answer(th *thread, pos Pos, row *fastjson.Value) {
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
func (t *transcript) begin(th *thread, pos Pos, row *fastjson.Value, id string) {
	t.finish(th)
	c := &call{pos: pos, thread: th.name, id: id, named: id != "", row: t.row, first: row, last: row,
		asked: th.asked, context: th.context, history: th.history[:len(th.history):len(th.history)], cut: th.cut}
	th.open, th.asked = c, nil
}

// closing takes the row that ends a call.
func (t *transcript) closing(th *thread, pos Pos, row *fastjson.Value) {
	if t.file.Total != "" {
		total := lookup(row, t.file.Total)
		if total == nil { // says something else
			return
		}
		now := rawJSON(total)
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

func (t *transcript) end(bool) {
	for _, th := range t.order {
		t.finish(th)
	}
	clear(t.threads)
	t.order = t.order[:0]
	t.keep, t.bytes = &fastjson.Arena{}, 0
}

func (t *transcript) next() (Pos, *fastjson.Value, bool) {
	if len(t.ready) == 0 {
		return Pos{}, nil, false
	}
	c := t.ready[0]
	t.ready[0] = nil
	t.ready = t.ready[1:]
	t.count.requests++
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
		if lookupText(c.last, t.file.Usage...) != "" {
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

func (t *transcript) counts() shapeCounts { return t.count }
