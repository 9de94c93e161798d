package shape

import (
	"container/list"
	"errors"
	"slices"

	"github.com/valyala/fastjson"

	"reprise/ingest/loglines"
	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// joinFile says which rows belong to one request: those with the same value at
// one of the paths by. Each kind of row stands under its own name in the
// request, so that a time of the start and one of the end are two columns.
type joinFile struct {
	By     []string        `yaml:"by"`     // below take
	Events []joinEventFile `yaml:"events"` // for lines of text: the kinds of line
	Last   []string        `yaml:"last"`   // kinds after which nothing more comes
	Across bool            `yaml:"across"` // partners may stand in other files
	Again  string          `yaml:"again"`  // replace: a second row of a kind takes the first one's place; else it is of another request
}

// joinEventFile is a kind of row: the first one whose condition holds.
type joinEventFile struct {
	Name string    `yaml:"name"`
	When condition `yaml:"when"` // of the row
	Take string    `yaml:"take"` // path of what the request gets of the row; all of it when not given
	Each string    `yaml:"each"` // path of a list: each element is such a row
}

func (f *joinFile) check() error {
	if len(f.By) == 0 || len(f.Events) == 0 {
		return errors.New("a join needs by and events")
	}
	if f.Again != "" && f.Again != "replace" {
		return errors.New("again can be replace, nothing else")
	}
	for _, e := range f.Events {
		if e.Name == "" || (e.When == "" && e.Each == "") {
			return errors.New("a kind of row in a join needs name, and when or each")
		}
	}
	return nil
}

// ofLines makes the kinds of row of the kinds of line, where none are given.
func (f *joinFile) ofLines(lines []loglines.Kind) {
	if len(f.Events) > 0 {
		return
	}
	for _, l := range lines {
		f.Events = append(f.Events, joinEventFile{Name: l.Name, When: condition(l.Name), Take: l.Name})
	}
}

const (
	maxHeld      = 1 << 20   // requests that wait for another row
	maxHeldBytes = 128 << 20 // of their rows
)

// joiner holds rows until their partners come. What waits longest goes first
// when too much is held, as a request with what is known of it.
type joiner struct {
	file    *joinFile
	waiting map[string]*list.Element
	order   list.List // of *heldRequest, oldest first
	bytes   int
	limit   int
	ready   []*heldRequest
	parser  fastjson.Parser
	buf     []byte
	ends    bool // a row was seen that ends a request
	single  int64
	count   Counts
}

// heldRequest is what is known of a request: rows as JSON, by kind.
type heldRequest struct {
	key    string
	pos    rows.Pos
	events []heldEvent
	bytes  int
}

type heldEvent struct {
	name string
	json []byte
}

func newJoiner(f *joinFile) *joiner {
	return &joiner{file: f, waiting: map[string]*list.Element{}, limit: maxHeldBytes}
}

func (j *joiner) add(pos rows.Pos, v *fastjson.Value) {
	j.count.Rows++
	for i := range j.file.Events {
		e := &j.file.Events[i]
		if e.Each != "" {
			for _, row := range notation.List(notation.Lookup(v, e.Each)) {
				j.put(e, pos, row)
			}
		} else if e.When.holds(v) {
			j.put(e, pos, notation.Lookup(v, e.Take))
			break
		}
	}
	for j.bytes > j.limit || j.order.Len() > maxHeld {
		j.release(j.order.Front().Value.(*heldRequest))
	}
}

// put adds a row to its request.
func (j *joiner) put(e *joinEventFile, pos rows.Pos, v *fastjson.Value) {
	if v == nil {
		return
	}
	key := notation.LookupText(v, j.file.By...)
	h := j.held(key, pos)
	if h.has(e.Name) && j.file.Again == "" { // the id is used again
		j.release(h)
		h = j.held(key, pos)
	}
	event := heldEvent{e.Name, notation.AppendValue(nil, v)}
	j.grow(h, len(event.json))
	h.put(event)
	last := slices.Contains(j.file.Last, e.Name)
	j.ends = j.ends || last
	if key == "" || last {
		j.release(h)
	}
}

// held is the request of a key, a new one when the key is empty.
func (j *joiner) held(key string, pos rows.Pos) *heldRequest {
	if e := j.waiting[key]; e != nil {
		return e.Value.(*heldRequest)
	}
	h := &heldRequest{key: key, pos: pos}
	e := j.order.PushBack(h)
	if key != "" {
		j.waiting[key] = e
	}
	return h
}

func (j *joiner) grow(h *heldRequest, n int) {
	h.bytes += n
	j.bytes += n
}

func (h *heldRequest) has(name string) bool {
	return slices.ContainsFunc(h.events, func(e heldEvent) bool { return e.name == name })
}

// put adds a row; a second one of the same kind takes the first one's place.
func (h *heldRequest) put(e heldEvent) {
	for i := range h.events {
		if h.events[i].name == e.name {
			h.events[i] = e
			return
		}
	}
	h.events = append(h.events, e)
}

// release makes a request ready.
func (j *joiner) release(h *heldRequest) {
	if e := j.waiting[h.key]; h.key != "" && e != nil {
		delete(j.waiting, h.key)
		j.order.Remove(e)
	} else {
		for e := j.order.Back(); e != nil; e = e.Prev() { // a row without a key was added just now
			if e.Value == h {
				j.order.Remove(e)
				break
			}
		}
	}
	j.bytes -= h.bytes
	if len(h.events) == 1 {
		j.single++
	}
	j.ready = append(j.ready, h)
}

func (j *joiner) end(last bool) {
	if !last && j.file.Across {
		return
	}
	for j.order.Len() > 0 {
		j.release(j.order.Front().Value.(*heldRequest))
	}
}

func (j *joiner) next() (rows.Pos, *fastjson.Value, bool) {
	for len(j.ready) > 0 {
		h := j.ready[0]
		j.ready[0] = nil
		j.ready = j.ready[1:]
		j.buf = append(j.buf[:0], '{')
		for i, e := range h.events {
			if i > 0 {
				j.buf = append(j.buf, ',')
			}
			j.buf = append(notation.AppendString(j.buf, e.name), ':')
			j.buf = append(j.buf, e.json...)
		}
		j.buf = append(j.buf, '}')
		v, err := j.parser.ParseBytes(j.buf)
		if err != nil { // nested deeper than the parser goes
			continue
		}
		j.count.Requests++
		return h.pos, v, true
	}
	return rows.Pos{}, nil, false
}

// Counts has halves only where the log has ends of requests at all, or where
// there is no kind that ends one.
func (j *joiner) Counts() Counts {
	c := j.count
	if (j.ends || len(j.file.Last) == 0) && len(j.file.Events) > 1 {
		c.alone = j.single
	}
	return c
}
