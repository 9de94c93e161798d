package sanitize

import (
	"fmt"

	"reprise/ingest"
	"reprise/sanitize/spill"
)

// maxNames is how many models, and how many adapters, a log may have.
const maxNames = 1 << 20

// collector takes items in order of the input and keeps them as rows, sorted by
// arrival, in memory or in temporary files.
type collector struct {
	account  *Account
	times    times
	sorter   *spill.Sorter
	models   names
	adapters names
	size     int // of given blocks; 0 while there are none
	file     string
	files    int32
	head     []byte
	holds    holds
	progress func(rows int64)
	sampler  *sampler
}

// progressRows is after how many rows progress is told.
const progressRows = 4096

// holds is what turned up in the rows, so that passes over them which would do
// nothing can be left out.
type holds struct {
	sessions, clients, parents, ids bool
	calls                           bool // attempts of a call are told apart
	failed                          bool // a call failed whose prompt is known
	blocks                          int64
}

func newCollector(space *spill.Space, room Room) *collector {
	return &collector{account: newAccount(), sorter: spill.NewSorter(space, room.Memory), models: names{}, adapters: names{}, progress: room.Progress, sampler: newSampler()}
}

// names numbers strings from 1; the empty one is 0.
type names map[string]int32

func (n names) number(s string) (int32, error) {
	if s == "" {
		return 0, nil
	}
	v, ok := n[s]
	if !ok {
		if len(n) == maxNames {
			return 0, fmt.Errorf("more than %d models or adapters: what is mapped to model or adapter is none", maxNames)
		}
		v = int32(len(n) + 1)
		n[s] = v
	}
	return v, nil
}

// add accounts for an item and keeps it.
func (c *collector) add(it *item) error {
	if c.account.Read++; c.account.Read%progressRows == 0 && c.progress != nil {
		c.progress(c.account.Read)
	}
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
	c.size = max(c.size, it.size)
	c.times.add(it)
	c.sampler.add(&it.marks)
	c.holds.add(&it.row)
	h, err := c.headOf(it)
	if err != nil {
		return err
	}
	c.head = h.append(c.head[:0])
	return c.sorter.Add(arrival(&it.row, c.account.Read), c.head, it.body)
}

func (c *collector) headOf(it *item) (h head, err error) {
	if it.pos.File != c.file {
		c.file = it.pos.File
		c.files++
	}
	h.file = c.files
	if h.model, err = c.models.number(it.model); err != nil {
		return h, err
	}
	h.adapter, err = c.adapters.number(it.lora)
	return h, err
}

// arrival is what rows are sorted by: time, then position in the input.
func arrival(r *row, position int64) spill.Key {
	return spill.Key{Hi: uint64(r.req.T.V) ^ 1<<63, Lo: uint64(position)}
}

func (h *holds) add(r *row) {
	none := spill.Key{}
	h.sessions = h.sessions || r.session != none
	h.clients = h.clients || r.client != none
	h.parents = h.parents || r.parent != none
	h.ids = h.ids || r.id != none
	h.calls = h.calls || (r.call != none && r.attempt != 0)
	h.failed = h.failed || (r.failed() && r.prompt != none)
	h.blocks += int64(r.wholeBlocks())
}
