package sanitize

import (
	"cmp"
	"slices"
	"strconv"

	"reprise/ingest"
	"reprise/trace"
	"reprise/trace/block"
)

// row is a request with numbers for names, in the order of the input.
type row struct {
	req            trace.Request // T as in the log; ids by first appearance in the input
	pos            ingest.Pos
	relative       bool
	given          bool   // blocks are the source's
	model, adapter int32  // 0 is none
	id, parent     string // request ids, kept only while parents are looked for
}

// collector takes items in order of the input.
type collector struct {
	account  *Account
	rows     rowList
	blocks   *block.Interner
	given    map[int64]int32
	size     int // of given blocks; 0 while there are none
	sessions names
	clients  names
	models   names
	adapters names
	parents  bool
}

func newCollector() *collector {
	return &collector{account: newAccount(), blocks: block.NewInterner(), given: map[int64]int32{},
		sessions: names{}, clients: names{}, models: names{}, adapters: names{}}
}

// names numbers strings from 1; the empty one is 0.
type names map[string]int32

func (n names) number(s string) int32 {
	if s == "" {
		return 0
	}
	v, ok := n[s]
	if !ok {
		v = int32(len(n) + 1)
		n[s] = v
	}
	return v
}

func (n names) opt(s string) trace.Opt[int32] {
	v := n.number(s)
	return trace.Opt[int32]{V: v, OK: v > 0}
}

// add accounts for an item and keeps it. It fails when block numbers run out.
func (c *collector) add(it *item) error {
	c.account.Read++
	if it.bad == nil && it.size > 0 && c.size > 0 && it.size != c.size {
		it.bad = &ingest.RowError{Pos: it.pos, Reason: ingest.BadBlocks, Detail: "their size is not that of the rows before"}
	}
	switch {
	case it.bad != nil:
		c.account.reject(it.bad.Reason, it.pos)
		return nil
	case it.rule != "":
		c.account.Excluded[it.rule]++
		return nil
	}
	r := c.rows.add()
	*r = row{req: it.req, pos: it.pos, relative: it.relative, model: c.models.number(it.model),
		adapter: c.adapters.number(it.adapter), given: it.size > 0, id: it.requestID, parent: it.parent}
	r.req.Session, r.req.Client = c.sessions.opt(it.session), c.clients.opt(it.client)
	c.parents = c.parents || it.parent != ""
	c.size = max(c.size, it.size)
	var err error
	r.req.Blocks, err = c.number(it)
	return err
}

// rowList grows without moving its rows.
type rowList struct {
	chunks [][]row
	n      int
}

const chunkRows = 4096

func (l *rowList) add() *row {
	if l.n%chunkRows == 0 {
		l.chunks = append(l.chunks, make([]row, chunkRows))
	}
	l.n++
	return l.at(l.n - 1)
}

func (l *rowList) at(i int) *row { return &l.chunks[i/chunkRows][i%chunkRows] }

// number gives an item's blocks numbers.
func (c *collector) number(it *item) ([]int32, error) {
	n := len(it.digests) + len(it.given) + it.fresh
	if n == 0 {
		return nil, nil
	}
	out, err := c.blocks.Append(make([]int32, 0, n), it.digests, false)
	if err != nil {
		return nil, err
	}
	for _, id := range it.given {
		v, ok := c.given[id]
		if !ok {
			if v, err = c.blocks.Fresh(); err != nil {
				return nil, err
			}
			c.given[id] = v
		}
		out = append(out, v)
	}
	for range it.fresh {
		v, err := c.blocks.Fresh()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// finish sorts and numbers the rows and returns the requests.
func (c *collector) finish(p Policy) ([]trace.Request, clock, error) {
	c.blocks, c.given = nil, nil
	clock := c.clock()
	order := c.order(clock)
	out := make([]trace.Request, 0, len(order))
	n := newNumbers(c, p)
	for _, i := range order {
		r := c.rows.at(int(i))
		q := r.req
		if clock.timed {
			q.T.V -= clock.zero
		}
		if c.size > 0 && !r.given {
			q.Blocks = nil // in a log with blocks of its own, ours are of another size
		}
		n.request(&q, r)
		out = append(out, q)
	}
	c.account.Kept = int64(len(out))
	_, err := block.Renumber(func(yield func([]int32) bool) {
		for i := range out {
			if !yield(out[i].Blocks) {
				return
			}
		}
	})
	return out, clock, err
}

// order is the order of arrival, ties by position in the input. Rows that the
// clock does not fit are rejected.
func (c *collector) order(k clock) []int32 {
	order := make([]int32, 0, c.rows.n)
	for i := range c.rows.n {
		switch r := c.rows.at(i); {
		case k.timed && !r.req.T.OK:
			c.account.reject(NoTime, r.pos)
		case k.timed && r.relative != k.relative:
			c.account.reject(MixedClock, r.pos)
		default:
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.rows.at(int(a)).req.T.V, c.rows.at(int(b)).req.T.V), cmp.Compare(a, b))
	})
	return order
}

// numbers gives everything its final number, in order of arrival.
type numbers struct {
	sessions, clients []int32 // by number in the input; 0 is none yet, else 1 + the final number
	session, client   int32   // how many there are
	turns             []int32
	models, adapters  *aliases
	ids               map[string]int64 // nil when nothing has a parent
	id                int64
}

func newNumbers(c *collector, p Policy) *numbers {
	n := &numbers{sessions: make([]int32, len(c.sessions)+1), clients: make([]int32, len(c.clients)+1),
		models: newAliases("model", c.models, p.AllowModels), adapters: newAliases("adapter", c.adapters, p.AllowAdapters)}
	if c.parents {
		n.ids = map[string]int64{}
	}
	return n
}

func renumber(table []int32, v int32, next *int32) int32 {
	if table[v] == 0 {
		*next++
		table[v] = *next
	}
	return table[v] - 1
}

func (n *numbers) request(q *trace.Request, r *row) {
	q.ID = n.id
	n.id++
	if q.Session.OK {
		q.Session.V = renumber(n.sessions, q.Session.V, &n.session)
		if int(q.Session.V) == len(n.turns) {
			n.turns = append(n.turns, 0)
		}
		q.Turn = trace.Some(n.turns[q.Session.V])
		n.turns[q.Session.V]++
	}
	if q.Client.OK {
		q.Client.V = renumber(n.clients, q.Client.V, &n.client)
	}
	q.Model, q.Adapter = n.models.name(r.model), n.adapters.name(r.adapter)
	if n.ids == nil {
		return
	}
	if id, ok := n.ids[r.parent]; ok && r.parent != "" {
		q.Parent = trace.Some(id)
	}
	if r.id != "" {
		n.ids[r.id] = q.ID
	}
}

// aliases names models or adapters: those of the policy's list by their own
// name, the others model1, model2, … by first arrival.
type aliases struct {
	prefix  string
	names   []string // by number; empty for none yet
	allowed []string
	count   int
}

func newAliases(prefix string, found names, allowed []string) *aliases {
	a := &aliases{prefix: prefix, names: make([]string, len(found)+1), allowed: allowed}
	for _, name := range allowed {
		if v, ok := found[name]; ok {
			a.names[v] = name
		}
	}
	return a
}

func (a *aliases) name(v int32) string {
	for v > 0 && a.names[v] == "" {
		a.count++
		if alias := a.prefix + strconv.Itoa(a.count); !slices.Contains(a.allowed, alias) {
			a.names[v] = alias
		}
	}
	return a.names[v]
}
