package ingest

// nest finds calls that were recorded twice, by a span and by another around
// it: a framework's span with that of the client library below. The inner one is
// nearest to the model and stays; the outer one is a NestedCall. Spans come in
// any order, so records wait a while for what may stand below them; the ids of
// spans are remembered for longer.
type nest struct {
	held    []Record
	first   int64            // number of held[0]
	at      map[string]int64 // numbers of held calls, by span
	bytes   int
	parents recent // span to the span around it
	around  recent // spans with a call below them
}

const (
	maxNest      = 512      // records that wait
	maxNestBytes = 16 << 20 // of their texts
	maxRecent    = 1 << 16  // ids that are remembered
	maxAround    = 32       // spans around a call that are looked for
)

func newNest() *nest { return &nest{at: map[string]int64{}} }

// push takes a record and hands on those that have waited long enough. It
// reports whether to go on.
func (n *nest) push(r Record, hand func(Record) bool) bool {
	if r.Span != "" {
		n.parents.put(r.Span, r.ParentSpan)
		_, below := n.around.get(r.Span)
		if r.Rule == "" && below {
			r = outer(r)
		}
		if r.Rule == "" {
			n.at[r.Span] = n.first + int64(len(n.held))
		}
		if r.Rule == "" || below {
			n.climb(r.ParentSpan)
		}
	}
	n.held = append(n.held, r)
	n.bytes += textBytes(&r)
	for len(n.held) > maxNest || n.bytes > maxNestBytes {
		if !n.pop(hand) {
			return false
		}
	}
	return true
}

// climb marks the spans around a call, as far as they are known.
func (n *nest) climb(span string) {
	for range maxAround {
		if span == "" {
			return
		}
		n.around.put(span, "")
		if i, ok := n.at[span]; ok {
			r := &n.held[i-n.first]
			n.bytes -= textBytes(r)
			*r = outer(*r)
			delete(n.at, span)
		}
		span, _ = n.parents.get(span)
	}
}

// outer is the record of a call that another one says better.
func outer(r Record) Record {
	out := excluded(r.Pos, NestedCall)
	out.Span, out.ParentSpan = r.Span, r.ParentSpan
	return out
}

func (n *nest) pop(hand func(Record) bool) bool {
	r := n.held[0]
	n.held[0] = Record{}
	n.held = n.held[1:]
	n.first++
	n.bytes -= textBytes(&r)
	if i, ok := n.at[r.Span]; ok && i < n.first {
		delete(n.at, r.Span)
	}
	return hand(r)
}

// flush hands on what waits, at the end of a file.
func (n *nest) flush(hand func(Record) bool) bool {
	for len(n.held) > 0 {
		if !n.pop(hand) {
			return false
		}
	}
	return true
}

func textBytes(r *Record) int {
	size := len(r.Prompt) + len(r.Output) + len(r.ToolText) + len(r.SchemaText) + 4*len(r.PromptTokens)
	for i := range r.Messages {
		size += len(r.Messages[i].Text)
	}
	return size
}

// recent remembers the last maxRecent pairs or more, at most twice as many.
type recent struct{ now, before map[string]string }

func (c *recent) put(key, value string) {
	if c.now == nil || len(c.now) >= maxRecent {
		c.now, c.before = map[string]string{}, c.now
	}
	c.now[key] = value
}

func (c *recent) get(key string) (string, bool) {
	if v, ok := c.now[key]; ok {
		return v, true
	}
	v, ok := c.before[key]
	return v, ok
}
