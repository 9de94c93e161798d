package sanitize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
)

// numbering gives keys 0, 1, 2, … by first appearance. One on disk is told the
// whole sequence before the first number is asked for.
type numbering interface {
	Add(k spill.Key) error
	Fresh(n int)
	Finish(ctx context.Context) error
	next(k spill.Key) (id, nth uint64, err error) // nth: how often it was there before
	fresh() (id uint64, err error)
	Close() error
}

// inMemory is a numbering by a map; it need not be told beforehand.
type inMemory struct {
	seen map[spill.Key]seen
	n    uint32
}

// seen is a key's number and how often it was there.
type seen struct{ id, nth uint32 }

func (*inMemory) Add(spill.Key) error          { return nil }
func (*inMemory) Fresh(int)                    {}
func (*inMemory) Finish(context.Context) error { return nil }
func (*inMemory) Close() error                 { return nil }

func (m *inMemory) next(k spill.Key) (id, nth uint64, err error) {
	v, ok := m.seen[k]
	if !ok {
		v.id = m.n
		m.n++
	}
	m.seen[k] = seen{v.id, v.nth + 1}
	return uint64(v.id), uint64(v.nth), nil
}

func (m *inMemory) fresh() (uint64, error) {
	m.n++
	return uint64(m.n - 1), nil
}

// onDisk is a numbering by files.
type onDisk struct{ *spill.Numbers }

func (d onDisk) next(spill.Key) (id, nth uint64, err error) { return d.Next() }

func (d onDisk) fresh() (uint64, error) {
	id, _, err := d.Next()
	return id, err
}

// entryBytes is about what a key takes in a map.
const entryBytes = 48

// numbers gives everything its final number, in order of arrival. Rows pass
// twice where told is set: tell, and then request.
type numbers struct {
	told             bool
	sessions         numbering
	clients          numbering
	blocks           numbering
	parents          *parents // nil when nothing has a parent
	models, adapters *aliases
	ownBlocks        bool // of another size than the source's: dropped
	id               int64
}

// newNumbers chooses, kind by kind, between memory and disk, by how many keys
// there can be.
func newNumbers(c *collector, rows int64, p Policy, room Room, space *spill.Space) (*numbers, error) {
	n := &numbers{ownBlocks: c.size == 0,
		models: newAliases("model", c.models, p.AllowModels), adapters: newAliases("adapter", c.adapters, p.AllowAdapters)}
	limit := int64(room.Memory / entryBytes)
	pick := func(keys int64, counted bool) (numbering, error) {
		if keys <= limit {
			return &inMemory{seen: map[spill.Key]seen{}}, nil
		}
		n.told = true
		on, err := spill.NewNumbers(space, room.Memory/4, counted)
		return onDisk{on}, err
	}
	var errs [4]error
	n.blocks, errs[0] = pick(c.holds.blocks, false)
	n.sessions, errs[1] = pick(rowsIf(c.holds.sessions, rows), true)
	n.clients, errs[2] = pick(rowsIf(c.holds.clients, rows), false)
	if c.holds.parents {
		n.parents = &parents{}
		if rows <= limit {
			n.parents.memory = map[spill.Key]int64{}
		} else {
			n.told = true
			n.parents.disk, errs[3] = spill.NewLatest(space, room.Memory/4)
		}
	}
	return n, errors.Join(errs[:]...)
}

func rowsIf(any bool, rows int64) int64 {
	if any {
		return rows
	}
	return 0
}

// tell passes the keys of a row on to what is on disk.
func (n *numbers) tell(r *row) error {
	none := spill.Key{}
	var err error
	if r.session != none {
		err = n.sessions.Add(r.session)
	}
	if r.client != none {
		err = errors.Join(err, n.clients.Add(r.client))
	}
	if n.parents != nil {
		err = errors.Join(err, n.parents.tell(r, n.id))
	}
	n.id++
	if !n.takes(r) {
		return err
	}
	for i := 0; i < r.wholeBlocks() && err == nil; i++ {
		err = n.blocks.Add(r.key(i))
	}
	n.blocks.Fresh(r.fresh)
	return err
}

// takes says whether a row's blocks count: in a log with blocks of its own,
// ours are of another size.
func (n *numbers) takes(r *row) bool { return r.given || n.ownBlocks }

// finish ends the telling.
func (n *numbers) finish(ctx context.Context) error {
	n.id = 0
	if !n.told {
		return nil
	}
	var err error
	if n.parents != nil && n.parents.disk != nil {
		err = n.parents.disk.Finish(ctx)
	}
	for _, k := range []numbering{n.blocks, n.sessions, n.clients} {
		if err == nil {
			err = k.Finish(ctx)
		}
	}
	return err
}

// request completes q, which came of r.
func (n *numbers) request(q *trace.Request, r *row) error {
	none := spill.Key{}
	q.ID = n.id
	n.id++
	if r.session != none {
		id, turn, err := n.sessions.next(r.session)
		if err != nil {
			return err
		}
		q.Session, q.Turn = trace.Some(int32(id)), trace.Some(int32(turn))
	}
	if r.client != none {
		id, _, err := n.clients.next(r.client)
		if err != nil {
			return err
		}
		q.Client = trace.Some(int32(id))
	}
	q.Model, q.Adapter = n.models.name(r.model), n.adapters.name(r.adapter)
	if n.parents != nil {
		if err := n.parents.find(q, r); err != nil {
			return err
		}
	}
	if !n.takes(r) {
		return nil
	}
	return n.list(q, r)
}

// list numbers the blocks.
func (n *numbers) list(q *trace.Request, r *row) error {
	whole := r.wholeBlocks()
	if whole+r.fresh == 0 {
		return nil
	}
	q.Blocks = make([]int32, 0, whole+r.fresh)
	for i := range whole + r.fresh {
		var id uint64
		var err error
		if i < whole {
			id, _, err = n.blocks.next(r.key(i))
		} else {
			id, err = n.blocks.fresh()
		}
		switch {
		case err != nil:
			return err
		case id > math.MaxInt32:
			return fmt.Errorf("more than %d distinct blocks: use larger blocks or a shorter window", int64(math.MaxInt32)+1)
		}
		q.Blocks = append(q.Blocks, int32(id))
	}
	return nil
}

// parents finds the latest earlier request of an id.
type parents struct {
	memory map[spill.Key]int64
	disk   *spill.Latest // where memory is nil
}

func (p *parents) tell(r *row, id int64) error {
	none := spill.Key{}
	if p.memory != nil {
		return nil
	}
	var err error
	if r.parent != none {
		err = p.disk.Use(r.parent, uint64(id))
	}
	if r.id != none {
		err = errors.Join(err, p.disk.Define(r.id, uint64(id)))
	}
	return err
}

func (p *parents) find(q *trace.Request, r *row) error {
	none := spill.Key{}
	if p.memory == nil {
		if r.parent == none {
			return nil
		}
		at, ok, err := p.disk.Find(uint64(q.ID))
		q.Parent = trace.Opt[int64]{V: int64(at), OK: ok}
		if !ok {
			q.Parent = trace.Opt[int64]{}
		}
		return err
	}
	if id, ok := p.memory[r.parent]; ok && r.parent != none {
		q.Parent = trace.Some(id)
	}
	if r.id != none {
		p.memory[r.id] = q.ID
	}
	return nil
}

// aliases names models or adapters: those of the policy's list by their own
// name, the others model1, model2, … by first arrival, unless they are keyed.
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
		if alias := trace.NumberedAlias(a.prefix, a.count); !slices.Contains(a.allowed, alias) {
			a.names[v] = alias
		}
	}
	return a.names[v]
}

// keyed gives every name that has none an alias by its digest under the chain's
// key.
func (a *aliases) keyed(found names, chain *block.Chain) {
	for name, v := range found {
		if a.names[v] == "" {
			a.names[v] = trace.KeyedAlias(a.prefix, chain.Root(block.Scope{Tokenizer: "alias of a " + a.prefix, Model: name}))
		}
	}
}

// StableAliases has Requests name models and adapters by digests under the key,
// so that one has the same alias in every log that is read under it. It is called
// before Requests.
func (r *Rows) StableAliases() {
	r.numbers.models.keyed(r.names.models, r.names.chain)
	r.numbers.adapters.keyed(r.names.adapters, r.names.chain)
}
