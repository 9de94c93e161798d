package trace

import (
	"fmt"
	"maps"
	"time"
)

// Window returns the requests that arrive in [from, to), in µs of t's clock,
// with the window's start as the new zero. Ids, sessions, turns, clients and
// blocks are renumbered from 0 by first appearance; a parent outside the window
// becomes absent. A token-exact prefix is kept only where the earlier request
// that it refers to is inside too.
//
// The header keeps the sources and the account of the log, and counts what lies
// outside as excluded; the caller sets DerivedFrom. A trace without times cannot be cut.
func (t *Trace) Window(from, to int64) (*Trace, error) {
	if !t.Timed() {
		return nil, fmt.Errorf("the trace has no arrival times, so it has no window to cut")
	}
	if from < 0 || to <= from {
		return nil, fmt.Errorf("the window from %d to %d µs is empty", from, to)
	}
	zero, err := shiftZero(t.Header.Time, from)
	if err != nil {
		return nil, err
	}
	out := &Trace{Header: t.Header}
	out.Header.Time.Zero = zero
	full := NewHits()
	var cut renumber
	for i := range t.Requests {
		r := t.Requests[i]
		before := full.Add(r.Blocks)
		if r.T.V < from || r.T.V >= to {
			continue
		}
		r.T.V -= from
		out.Requests = append(out.Requests, cut.request(r, before))
	}
	out.Header.Counts = t.Header.Counts.cut(len(out.Requests))
	return out, nil
}

// cut is the account when only n of the kept rows stay: the log's own counts go
// on, and what was cut off is excluded as outside_window.
func (c Counts) cut(n int) Counts {
	excluded := map[string]int64{}
	maps.Copy(excluded, c.Excluded)
	excluded["outside_window"] += c.Kept - int64(n)
	return Counts{Read: c.Read, Kept: int64(n), Rejected: c.Rejected, Excluded: excluded}
}

// Hits is an infinite prefix cache over block lists in order of arrival. Block
// numbers count up by first appearance, so a bit each is enough; one that is far
// ahead of their count goes into a map, and costs a file nothing to have.
type Hits struct {
	dense  []uint64
	sparse map[int32]bool
	n      int // blocks stored, repeats counted
}

// NewHits returns an empty cache.
func NewHits() *Hits { return &Hits{} }

// Add returns how many leading blocks earlier requests had, and stores all.
func (h *Hits) Add(blocks []int32) int {
	n := 0
	for n < len(blocks) && h.has(blocks[n]) {
		n++
	}
	for _, b := range blocks[n:] {
		h.put(b)
	}
	return n
}

func (h *Hits) has(b int32) bool {
	if word := int(b) >> 6; word >= 0 && word < len(h.dense) && h.dense[word]>>(b&63)&1 == 1 {
		return true
	}
	return h.sparse[b]
}

func (h *Hits) put(b int32) {
	h.n++
	word := int(b) >> 6
	if word < 0 || word > h.n+1024 {
		if h.sparse == nil {
			h.sparse = map[int32]bool{}
		}
		h.sparse[b] = true
		return
	}
	if word >= len(h.dense) {
		h.dense = append(h.dense, make([]uint64, word+1-len(h.dense))...)
	}
	h.dense[word] |= 1 << (b & 63)
}

// renumber gives new numbers by first appearance.
type renumber struct {
	ids     map[int64]int64
	session map[int32]int32
	turns   map[int32]int32
	client  map[int32]int32
	blocks  map[int32]int32
	hits    *Hits
	next    int64
}

// request renumbers r; before is the number of leading blocks that earlier
// requests of the whole trace had.
func (n *renumber) request(r Request, before int) Request {
	if n.ids == nil {
		*n = renumber{ids: map[int64]int64{}, session: map[int32]int32{}, turns: map[int32]int32{},
			client: map[int32]int32{}, blocks: map[int32]int32{}, hits: NewHits()}
	}
	n.ids[r.ID] = n.next
	r.ID = n.next
	n.next++
	if r.Parent.OK {
		id, ok := n.ids[r.Parent.V]
		r.Parent = Opt[int64]{V: id, OK: ok}
	}
	if r.Session.OK {
		r.Session.V = fresh(n.session, r.Session.V)
		if r.Turn.OK {
			r.Turn.V = n.turns[r.Session.V]
			n.turns[r.Session.V]++
		}
	}
	if r.Client.OK {
		r.Client.V = fresh(n.client, r.Client.V)
	}
	own := r.Blocks
	r.Blocks = nil // the source keeps its list
	for _, b := range own {
		r.Blocks = append(r.Blocks, fresh(n.blocks, b))
	}
	if n.hits.Add(r.Blocks) != before {
		r.Prefix = Opt[int32]{}
	}
	return r
}

func fresh(m map[int32]int32, old int32) int32 {
	v, ok := m[old]
	if !ok {
		v = int32(len(m))
		m[old] = v
	}
	return v
}

// hourOfWeek is the layout of Time.Zero under the hour-of-week calendar: the
// weekday and the time of day in UTC, and no date.
const hourOfWeek = "Mon 15:04:05.000000"

// ZeroLabel returns the label of an instant under a calendar.
func ZeroLabel(calendar string, at time.Time) string {
	switch calendar {
	case CalendarDate:
		return at.UTC().Format("2006-01-02T15:04:05.000000Z")
	case CalendarHourOfWeek:
		return at.UTC().Format(hourOfWeek)
	}
	return ""
}

// ZeroTime returns the instant that a label stands for; under the hour-of-week
// calendar it lies in an arbitrary week. It is false when the calendar is none.
func (t Time) ZeroTime() (time.Time, bool, error) {
	switch {
	case t.Calendar == CalendarNone || t.Zero == "":
		return time.Time{}, false, nil
	case t.Calendar == CalendarDate:
		at, err := time.Parse(time.RFC3339Nano, t.Zero)
		if err != nil {
			return time.Time{}, false, fmt.Errorf("time.zero is not a date and time")
		}
		return at.UTC(), true, nil
	}
	at, err := time.Parse(hourOfWeek, t.Zero)
	if err != nil || len(t.Zero) < 3 {
		return time.Time{}, false, fmt.Errorf("time.zero is not a weekday and time of day")
	}
	// 2001-01-01 was a Monday.
	for d := range 7 {
		day := time.Date(2001, 1, 1+d, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		if day.Format("Mon") == t.Zero[:3] {
			return day, true, nil
		}
	}
	return time.Time{}, false, fmt.Errorf("time.zero has no weekday")
}

// Label returns the calendar's label of an offset in µs, empty with calendar
// none.
func (t Time) Label(offset int64) (string, error) { return shiftZero(t, offset) }

func shiftZero(t Time, by int64) (string, error) {
	at, ok, err := t.ZeroTime()
	if err != nil || !ok {
		return "", err
	}
	return ZeroLabel(t.Calendar, at.Add(time.Duration(by)*time.Microsecond)), nil
}
