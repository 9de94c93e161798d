package sanitize

import "reprise/sanitize/spill"

// Of a prompt's blocks, those that a sampler keeps.
const (
	markBlocks = 256
	blockBytes = 16 // of a digest
)

// look finds out what a cache without end shares of the prompts of the sample, in
// whole blocks: where a log has more prompts, the few that have a field's value
// in common, as the turns of a chat, are seldom in the sample together. It takes
// one pass over the rows, and none where nothing hangs on it.
func (s *sampler) look(size int, each func(do func(*row) error) error) error {
	if int64(len(s.kept)) == s.seen || s.broken() == nil {
		return nil
	}
	had := map[spill.Key]bool{}     // by block of the sample: whether a row before had it
	ends := map[spill.Key]*ending{} // by the last of a prompt's blocks
	last := make([]*ending, len(s.kept))
	for i := range s.kept {
		r := row{digests: s.kept[i].blocks}
		for b := range r.wholeBlocks() {
			had[r.key(b)] = false
		}
		if n := r.wholeBlocks(); n > 0 {
			k := r.key(n - 1)
			if ends[k] == nil {
				ends[k] = new(ending)
			}
			last[i] = ends[k]
		}
	}
	err := each(func(r *row) error {
		if !r.given {
			passes(r, had, ends)
		}
		return nil
	})
	for i, e := range last {
		if e != nil && e.rows > 0 {
			s.kept[i].before = int(e.hits/e.rows) * size
		}
	}
	return err
}

// ending is what rows that end with a block shared: the same prompt may be in a
// log several times, and one of them in the sample.
type ending struct{ rows, hits int64 }

// passes counts a row's hits, if it is of the sample, and notes its blocks.
func passes(r *row, had map[spill.Key]bool, ends map[spill.Key]*ending) {
	n, hits := min(r.wholeBlocks(), markBlocks), 0
	for i := range n {
		k := r.key(i)
		before, in := had[k]
		if !in {
			return // as are all behind it
		}
		if before {
			hits = i + 1
		}
		had[k] = true
		if e := ends[k]; e != nil && i == n-1 {
			e.rows, e.hits = e.rows+1, e.hits+int64(hits)
		}
	}
}
