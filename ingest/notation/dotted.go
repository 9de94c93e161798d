package notation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/scalar"
)

// Dotted collects attributes whose keys are dotted and count positions, such as
// messages.0.role, by the root of such keys.
type Dotted struct {
	Roots []string
	trees map[string]*branch
}

// branch is an object or array that is put together of dotted keys.
type branch struct {
	leaf *fastjson.Value
	keys []string // in order of appearance
	kids map[string]*branch
}

// Add takes a value under its key, which begins with the root.
func (g *Dotted) Add(root, key string, v *fastjson.Value) {
	if g.trees == nil {
		g.trees = map[string]*branch{}
	}
	b := g.trees[root]
	if b == nil {
		b = &branch{}
		g.trees[root] = b
		g.Roots = append(g.Roots, root)
	}
	depth := 0
	for step := range strings.SplitSeq(key[len(root)+1:], ".") {
		if depth++; depth > maxAnyDepth {
			return
		}
		if b.kids == nil {
			b.kids = map[string]*branch{}
		}
		next := b.kids[step]
		if next == nil {
			next = &branch{}
			b.kids[step] = next
			b.keys = append(b.keys, step)
		}
		b = next
	}
	b.leaf = v
}

// Value is what was collected under a root, nil when it cannot be parsed.
func (g *Dotted) Value(root string, n *Decoder) *fastjson.Value {
	n.buf = g.trees[root].appendJSON(n.buf[:0])
	return n.parse(string(n.buf))
}

// appendJSON writes a branch: an array when its keys are all numbers. What has
// keys below it loses a value of its own.
func (b *branch) appendJSON(dst []byte) []byte {
	if len(b.keys) == 0 {
		if b.leaf == nil {
			return append(dst, "null"...)
		}
		return appendAny(dst, b.leaf, 0)
	}
	open, end := byte('{'), byte('}')
	order := b.keys
	if at := positions(b.keys); at != nil {
		open, end, order = '[', ']', at
	}
	dst = append(dst, open)
	for i, key := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		if open == '{' {
			dst = append(AppendString(dst, String([]byte(key))), ':')
		}
		dst = b.kids[key].appendJSON(dst)
	}
	return append(dst, end)
}

// positions sorts keys that are all numbers, nil when one is none. A position
// that is missing closes up.
func positions(keys []string) []string {
	for _, k := range keys {
		if len(k) > 9 || !scalar.Digits(k) {
			return nil
		}
	}
	out := slices.Clone(keys)
	slices.SortFunc(out, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return out
}
