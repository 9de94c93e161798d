package fit

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"reprise/trace"
	"reprise/trace/keys"
)

// maxCrossing bounds the digests that are held to match shards: 24 bytes each.
const maxCrossing = 48 << 20

// policies notes that names stand in one trace that another has an alias for.
func (a *alignment) policies(shards []Shard) {
	for i, s := range shards {
		k, first := s.Keys, shards[0].Keys
		if k != nil && first != nil && (!slices.Equal(k.Header.Models, first.Header.Models) || !slices.Equal(k.Header.Adapters, first.Header.Adapters)) {
			a.notes = append(a.notes, fmt.Sprintf("the policies of traces 1 and %d keep different names of models or adapters: one that is named here and an alias there counts as two", i+1))
		}
	}
}

// Apart says why sessions and blocks of shards cannot be told to be the same;
// empty where they can: each shard has its keys, all made under one key.
func Apart(shards []Shard) string {
	var digests int64
	for i, s := range shards {
		switch {
		case s.Keys == nil:
			return fmt.Sprintf("trace %d has no keys beside it", i+1)
		case s.Keys.Header.Key != shards[0].Keys.Header.Key:
			return fmt.Sprintf("traces 1 and %d were made under different keys", i+1)
		case s.Keys.Header.Isolated != shards[0].Keys.Header.Isolated:
			return fmt.Sprintf("the policy isolates clients in one of traces 1 and %d alone", i+1)
		}
		digests += s.Keys.NumRows()
	}
	if digests > maxCrossing {
		return fmt.Sprintf("%d digests are more than can be held", digests)
	}
	return ""
}

// crossing gives what goes on from shard to shard one number in the whole, by
// first appearance, as ingest does for a log that it reads at once.
type crossing struct {
	sessions, clients, blocks digestNumbers
	turns                     []int32          // by session: how many there were
	requests                  map[int64]holder // by digest: the latest of that id
	copies                    int64            // ids that another shard has
	models, adapters          crossingNames
}

// holder is the request of an id.
type holder struct {
	row   int64
	shard int
}

func newCrossing(shards []Shard) *crossing {
	c := &crossing{requests: map[int64]holder{}, models: crossingNames{prefix: "model"}, adapters: crossingNames{prefix: "adapter"}}
	var rows int64
	for _, s := range shards {
		rows += s.Keys.NumRows()
		c.models.taken = append(c.models.taken, s.Keys.Header.Models...)
		c.adapters.taken = append(c.adapters.taken, s.Keys.Header.Adapters...)
	}
	c.sessions.ids, c.clients.ids = map[int64]int32{}, map[int64]int32{}
	c.blocks.ids = make(map[int64]int32, min(rows, maxCrossing))
	return c
}

// digestNumbers numbers digests by first appearance.
type digestNumbers struct {
	ids  map[int64]int32
	next int32
}

func (n *digestNumbers) of(digest int64) (int32, error) {
	if id, ok := n.ids[digest]; ok {
		return id, nil
	}
	id, err := n.fresh()
	n.ids[digest] = id
	return id, err
}

func (n *digestNumbers) fresh() (int32, error) {
	if n.next == math.MaxInt32 {
		return 0, fmt.Errorf("more than %d distinct sessions or blocks in all: fit fewer traces at once", n.next)
	}
	n.next++
	return n.next - 1, nil
}

// crossingNames gives aliases that are the same in all shards.
type crossingNames struct {
	prefix string
	names  map[int64]string // by digest
	taken  []string         // by names that stand themselves
	count  int
}

// of is the alias of a digest in the whole; own, its alias in its shard, stays
// where it is the same in every log under the key.
func (n *crossingNames) of(digest int64, own string) string {
	if name, ok := n.names[digest]; ok {
		return name
	}
	if n.names == nil {
		n.names = map[int64]string{}
	}
	if trace.AliasOf(n.prefix, own) == trace.Keyed {
		n.names[digest] = own
		return own
	}
	for {
		n.count++
		if alias := trace.NumberedAlias(n.prefix, n.count); !slices.Contains(n.taken, alias) {
			n.names[digest] = alias
			return alias
		}
	}
}

// ownKeys reads the keys of one shard beside its rows, and knows what numbers
// its own ones have in the whole.
type ownKeys struct {
	next    func() ([]keys.Row, error, bool)
	stop    func()
	rows    []keys.Row
	done    bool
	row     int64 // of the trace, that comes next
	shard   int
	told    [keys.Block + 1][]int64
	session []int32
	client  []int32
	blocks  []int32
	model   map[string]string
	adapter map[string]string
}

func newOwnKeys(f *keys.File, shard int) *ownKeys {
	k := &ownKeys{shard: shard, model: map[string]string{}, adapter: map[string]string{}}
	k.next, k.stop = iter.Pull2(f.Rows())
	return k
}

// advance gathers the digests of the next row of the trace.
func (k *ownKeys) advance() error {
	for i := range k.told {
		k.told[i] = k.told[i][:0]
	}
	for {
		if len(k.rows) == 0 && !k.done {
			rows, err, ok := k.next()
			if err != nil {
				return fmt.Errorf("%w; ingest the log again, or take the file of keys away", err)
			}
			k.rows, k.done = rows, !ok
			continue
		}
		if len(k.rows) == 0 || k.rows[0].Request > k.row {
			k.row++
			return nil
		}
		r := k.rows[0]
		if r.Request < k.row || r.Digest == 0 {
			return errKeys
		}
		k.told[r.What] = append(k.told[r.What], r.Digest)
		k.rows = k.rows[1:]
	}
}

// one is the only digest of a kind that the row has, if any.
func (k *ownKeys) one(what keys.What) (digest int64, ok bool) {
	if len(k.told[what]) == 0 {
		return 0, false
	}
	return k.told[what][0], true
}

var errKeys = errors.New("they do not fit the trace: ingest the log again, or take the file of keys away")

// request gives row n of the whole its numbers there; r is the next row of the
// shard that k belongs to.
func (c *crossing) request(r *trace.Request, k *ownKeys, n int64) error {
	if err := k.advance(); err != nil {
		return err
	}
	r.Parent = trace.Opt[int64]{}
	if d, ok := k.one(keys.Parent); ok {
		if p, ok := c.requests[d]; ok {
			r.Parent = trace.Some(p.row)
		}
	}
	if d, ok := k.one(keys.Request); ok {
		if p, ok := c.requests[d]; ok && p.shard != k.shard {
			c.copies++
		}
		c.requests[d] = holder{n, k.shard}
	}
	if err := c.names(r, k); err != nil {
		return err
	}
	if err := c.turn(r, k); err != nil {
		return err
	}
	if err := inWhole(&k.client, &r.Client, k.told[keys.Client], &c.clients); err != nil {
		return err
	}
	return c.list(r.Blocks, k)
}

// names gives aliases those of the whole.
func (c *crossing) names(r *trace.Request, k *ownKeys) error {
	for _, x := range []struct {
		what keys.What
		name *string
		own  map[string]string
		all  *crossingNames
	}{{keys.Model, &r.Model, k.model, &c.models}, {keys.Adapter, &r.Adapter, k.adapter, &c.adapters}} {
		if d, ok := k.one(x.what); ok {
			x.own[*x.name] = x.all.of(d, *x.name)
		}
		if alias, ok := x.own[*x.name]; ok {
			*x.name = alias
		}
	}
	return nil
}

// turn numbers the session, and the turns of a session that has them.
func (c *crossing) turn(r *trace.Request, k *ownKeys) error {
	if err := inWhole(&k.session, &r.Session, k.told[keys.Session], &c.sessions); err != nil || !r.Session.OK {
		return err
	}
	for int(c.sessions.next) > len(c.turns) {
		c.turns = append(c.turns, 0)
	}
	r.Turn = trace.Some(c.turns[r.Session.V])
	c.turns[r.Session.V]++
	return nil
}

// inWhole gives an own number the one of the whole. A new one has a digest.
func inWhole(own *[]int32, id *trace.Opt[int32], told []int64, all *digestNumbers) error {
	if !id.OK {
		return nil
	}
	if int(id.V) == len(*own) && len(told) > 0 {
		v, err := all.of(told[0])
		if err != nil {
			return err
		}
		*own = append(*own, v)
	}
	if id.V < 0 || int(id.V) >= len(*own) {
		return errKeys
	}
	id.V = (*own)[id.V]
	return nil
}

// list renumbers blocks. New ones beyond the digests share with nothing.
func (c *crossing) list(blocks []int32, k *ownKeys) error {
	told := k.told[keys.Block]
	for i, id := range blocks {
		if int(id) == len(k.blocks) {
			var v int32
			var err error
			if len(told) > 0 {
				v, err = c.blocks.of(told[0])
				told = told[1:]
			} else {
				v, err = c.blocks.fresh()
			}
			if err != nil {
				return err
			}
			k.blocks = append(k.blocks, v)
		}
		if id < 0 || int(id) >= len(k.blocks) {
			return errKeys
		}
		blocks[i] = k.blocks[id]
	}
	if len(told) > 0 {
		return errKeys
	}
	return nil
}
