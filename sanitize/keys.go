package sanitize

import (
	"encoding/hex"
	"slices"

	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
	"reprise/trace/keys"
)

// keyed hands on the digests behind the numbers of a trace, each where its
// number first appears.
type keyed struct {
	emit     func(keys.Row) error
	models   nameKeys
	adapters nameKeys
	session  int32 // numbers that were there before
	client   int32
	block    int32
}

// nameKeys are digests of names that aliases stand for, by number; zero for
// those that stand themselves, and for those that were told.
type nameKeys []int64

func newNameKeys(kind string, found names, allowed []string, chain *block.Chain) nameKeys {
	n := make(nameKeys, len(found)+1)
	for name, v := range found {
		if !slices.Contains(allowed, name) {
			n[v] = digestOf(nameKey(chain, kind, name))
		}
	}
	return n
}

// nameKey is the keyed digest of a name of some kind.
func nameKey(chain *block.Chain, kind, name string) spill.Key {
	return keyOf(chain.Root(block.Scope{Tokenizer: kind, Model: name}))
}

// digestOf is the part of a key that goes into the file: 63 bits, never zero.
func digestOf(k spill.Key) int64 {
	return max(int64(k.Hi^k.Lo)&(1<<63-1), 1)
}

// request tells what is new in q, which came of r.
func (k *keyed) request(q *trace.Request, r *row) error {
	tell := func(what keys.What, digest int64) error {
		return k.emit(keys.Row{Request: q.ID, What: what, Digest: digest})
	}
	var err error
	fresh := func(next *int32, id trace.Opt[int32], what keys.What, key spill.Key) {
		if id.OK && id.V == *next && err == nil {
			*next++
			err = tell(what, digestOf(key))
		}
	}
	fresh(&k.session, q.Session, keys.Session, r.session)
	fresh(&k.client, q.Client, keys.Client, r.client)
	for _, x := range []struct {
		what keys.What
		key  spill.Key
	}{{keys.Request, r.id}, {keys.Parent, r.parent}} {
		if x.key != (spill.Key{}) && err == nil {
			err = tell(x.what, digestOf(x.key))
		}
	}
	for _, x := range []struct {
		what  keys.What
		names nameKeys
		v     int32
	}{{keys.Model, k.models, r.model}, {keys.Adapter, k.adapters, r.adapter}} {
		if d := x.names[x.v]; d != 0 && err == nil {
			x.names[x.v] = 0
			err = tell(x.what, d)
		}
	}
	whole := r.wholeBlocks()
	for i, id := range q.Blocks {
		if id != k.block || err != nil {
			continue
		}
		k.block++
		if i < whole {
			err = tell(keys.Block, digestOf(r.key(i)))
		}
	}
	return err
}

// Keys has Requests hand the digests of a trace's sessions, clients, requests,
// aliases and blocks to emit, in the order that the file of keys has them. It is
// called before Requests. The header it returns lacks Tool and Trace.
func (r *Rows) Keys(emit func(keys.Row) error) keys.Header {
	c := r.names
	r.keyed = &keyed{emit: emit,
		models:   newNameKeys("model", c.models, c.policy.AllowModels, c.chain),
		adapters: newNameKeys("adapter", c.adapters, c.policy.AllowAdapters, c.chain)}
	of := c.chain.Root(block.Scope{Tokenizer: "key"})
	return keys.Header{Key: hex.EncodeToString(of[:]), Models: c.policy.AllowModels, Adapters: c.policy.AllowAdapters, Isolated: c.policy.IsolateClients}
}

// namesOf is what Keys needs of a pass.
type namesOf struct {
	chain            *block.Chain
	models, adapters names
	policy           Policy
}
