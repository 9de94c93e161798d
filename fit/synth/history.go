package synth

import (
	"math"
	"slices"
	"sort"
)

// history holds the prompts so far as an LRU cache sees them: a prompt touches
// its blocks from the last to the first, so the blocks that no later prompt has
// touched are the end of its list. A block's distance is how many distinct
// blocks were touched after it.
type history struct {
	past    [][]int32
	whole   []int32           // blocks of a prompt that others can share: not the partial last one
	live    []int32           // blocks that no later prompt touched
	last    []int32           // by block: the prompt that touched it last
	tree    []int64           // Fenwick tree over live
	touched int64             // distinct blocks so far
	ends    map[int32][]int32 // by whole: the prompts whose end is live, ascending
}

func (s *history) reserve(n int) {
	s.tree, s.ends = make([]int64, n+1), map[int32][]int32{}
}

// add appends a prompt whose first shared blocks were there before.
func (s *history) add(blocks []int32, shared int, whole int32) {
	me := int32(len(s.past))
	for i := 0; i < shared; {
		owner := s.last[blocks[i]]
		from := i
		for ; i < shared && s.last[blocks[i]] == owner; i++ {
			s.last[blocks[i]] = me
		}
		s.live[owner] -= int32(i - from)
		s.count(owner, int64(from-i))
		if w := s.whole[owner]; int(w) > from && int(w) <= i {
			s.drop(w, owner)
		}
	}
	for range blocks[shared:] {
		s.last = append(s.last, me)
	}
	s.touched += int64(len(blocks) - shared)
	s.past, s.whole, s.live = append(s.past, blocks), append(s.whole, whole), append(s.live, int32(len(blocks)))
	s.count(me, int64(len(blocks)))
	s.ends[whole] = append(s.ends[whole], me)
}

// drop takes a prompt whose end another one touched from the ends.
func (s *history) drop(whole, prompt int32) {
	list := s.ends[whole]
	if i, ok := slices.BinarySearch(list, prompt); ok {
		s.ends[whole] = slices.Delete(list, i, i+1)
	}
}

func (s *history) count(prompt int32, n int64) {
	for i := int(prompt) + 1; i < len(s.tree); i += i & -i {
		s.tree[i] += n
	}
}

// after is the number of live blocks of the prompts after i.
func (s *history) after(i int) int64 {
	sum := s.touched
	for i++; i > 0; i -= i & -i {
		sum -= s.tree[i]
	}
	return sum
}

// at is the prompt with the block that lies so deep in the stack.
func (s *history) at(distance int64) int {
	i := sort.Search(len(s.past), func(i int) bool { return s.after(i) <= distance })
	return min(i, len(s.past)-1)
}

// off is how far the block at depth h of a prompt that touched it last lies from
// a distance.
func (s *history) off(i int, h int32, distance int64) int64 {
	first := int32(len(s.past[i])) - s.live[i]
	d := s.after(i) + int64(h-1-first) - distance
	return max(d, -d)
}

// reach bounds the search for a prompt that is long enough.
const reach = 2048

// nearest returns h blocks that begin an earlier prompt, the last of them as
// near to a distance as a look around finds; where no prompt within reach is as
// long, as many as the longest has.
func (s *history) nearest(h int32, distance int64) []int32 {
	n := len(s.past)
	if n == 0 {
		return nil
	}
	at := s.at(distance)
	longest, best, off := at, -1, int64(math.MaxInt64)
	for _, step := range [2]int{-1, 1} {
		for i, k := at, 0; i >= 0 && i < n && k < reach; i, k = i+step, k+1 {
			if s.whole[i] > s.whole[longest] {
				longest = i
			}
			if s.whole[i] < h || s.last[s.past[i][h-1]] != int32(i) {
				continue // too short, or a later prompt touched that block
			}
			if o := s.off(i, h, distance); o < off {
				best, off = i, o
			}
			break
		}
	}
	if best < 0 {
		best = longest
	}
	return s.past[best][:min(h, s.whole[best])]
}

// A prompt that is taken up whole may be longer or shorter than the hit that
// was dealt by one part in slackPart, and by slackBlocks; its distance is near
// when within one part in nearPart, or nearBlocks, and taken up to far times
// that.
const (
	slackPart   = 3
	slackBlocks = 64
	nearPart    = 8
	nearBlocks  = 64
	far         = 4
)

// ending returns the whole blocks of an earlier prompt, about h and at most most
// of them, whose end no other prompt has touched and lies near a distance; nil
// when there is none. It tries lengths in order of their difference from h.
func (s *history) ending(h, most int32, distance int64) []int32 {
	if len(s.past) == 0 {
		return nil
	}
	at := int32(s.at(distance))
	near := max(distance/nearPart, nearBlocks)
	best, off := int32(-1), int64(math.MaxInt64)
	for k := int32(0); k <= 2*min(h/slackPart, slackBlocks) && off > near; k++ {
		w := h + (k+1)/2
		if k%2 == 0 {
			w = h - k/2
		}
		if w < 1 || w > most {
			continue
		}
		list := s.ends[w]
		j, _ := slices.BinarySearch(list, at)
		for _, p := range list[max(j-1, 0):min(j+1, len(list))] {
			if o := s.off(int(p), w, distance); o < off {
				best, off = p, o
			}
		}
	}
	if best < 0 || off > far*near {
		return nil
	}
	return s.past[best][:s.whole[best]]
}
