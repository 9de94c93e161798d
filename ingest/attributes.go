package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/scalar"
)

// The limits of attributes; a span has a few hundred at most.
const (
	maxAttributes = 1 << 16
	maxAnyDepth   = 32
)

// attributes walks a list of {key, value} pairs as OTLP writes them, or an
// object with dotted keys, as if the keys were paths. Keys below one of the
// node's arrays are put together again: their numbers are positions.
func (p *plan) attributes(n *node, v *fastjson.Value) {
	var g gathered
	if v.Type() == fastjson.TypeString {
		if v = p.inner.decode(string(v.GetStringBytes())); v == nil {
			return
		}
	}
	n.pairs(v, func(key string, v *fastjson.Value) {
		if root := n.arrayOf(key); root != "" {
			g.add(root, key, v)
			return
		}
		if c := n.find(key); c != nil {
			p.walk(c, p.inner.plain(v))
		}
	})
	for _, root := range g.roots {
		c := n.find(root)
		if c == nil {
			continue
		}
		p.inner.buf = g.trees[root].appendJSON(p.inner.buf[:0])
		if v := p.inner.parse(string(p.inner.buf)); v != nil {
			p.walk(c, v)
		}
	}
}

// arrayOf is the array that a key lies in, empty when in none.
func (n *node) arrayOf(key string) string {
	for _, a := range n.arrays {
		if rest, ok := strings.CutPrefix(key, a); ok && len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
			return a
		}
	}
	return ""
}

// pairs calls add with every attribute. Values may be wrapped in their type.
func (n *node) pairs(v *fastjson.Value, add func(key string, v *fastjson.Value)) {
	switch v.Type() {
	case fastjson.TypeArray:
		for i, kv := range v.GetArray() {
			if key := kv.GetStringBytes("key"); key != nil && i < maxAttributes {
				if value := kv.Get("value"); value != nil {
					add(string(key), value)
				}
			}
		}
	case fastjson.TypeObject:
		o, _ := v.Object()
		i := 0
		o.Visit(func(key []byte, v *fastjson.Value) {
			if i++; i <= maxAttributes {
				add(string(key), v)
			}
		})
	}
}

// plain takes the type off an attribute's value: {"stringValue": "x"} is "x".
func (n *nested) plain(v *fastjson.Value) *fastjson.Value {
	inner, kind := typed(v)
	switch kind {
	case 0:
		return v
	case 's':
		return inner
	}
	n.buf = appendAny(n.buf[:0], v, 0)
	if out := n.parse(string(n.buf)); out != nil {
		return out
	}
	return v
}

// typed tells whether a value is wrapped in its type: 's' a scalar, 'l' a list,
// 'o' an object, 0 not at all.
func typed(v *fastjson.Value) (*fastjson.Value, byte) {
	if v.Type() != fastjson.TypeObject {
		return v, 0
	}
	o, _ := v.Object()
	if o.Len() != 1 {
		return v, 0
	}
	inner, kind := v, byte(0)
	o.Visit(func(key []byte, v *fastjson.Value) {
		switch string(key) {
		case "stringValue", "intValue", "doubleValue", "boolValue", "bytesValue",
			"string_value", "int_value", "double_value", "bool_value":
			inner, kind = v, 's'
		case "arrayValue", "array_value":
			inner, kind = v, 'l'
		case "kvlistValue", "kvlist_value":
			inner, kind = v, 'o'
		}
	})
	return inner, kind
}

// appendAny writes a value without its types.
func appendAny(dst []byte, v *fastjson.Value, depth int) []byte {
	inner, kind := typed(v)
	if depth > maxAnyDepth {
		return append(dst, "null"...)
	}
	switch kind {
	case 's':
		return appendValue(dst, inner)
	case 'l':
		dst = append(dst, '[')
		for i, e := range inner.GetArray("values") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAny(dst, e, depth+1)
		}
		return append(dst, ']')
	case 'o':
		dst = append(dst, '{')
		for i, kv := range inner.GetArray("values") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, own(kv.GetStringBytes("key"))), ':')
			if value := kv.Get("value"); value != nil {
				dst = appendAny(dst, value, depth+1)
			} else {
				dst = append(dst, "null"...)
			}
		}
		return append(dst, '}')
	}
	return appendValue(dst, v)
}

// gathered collects attributes whose keys count positions.
type gathered struct {
	roots []string
	trees map[string]*branch
}

// branch is an object or array that is put together of dotted keys.
type branch struct {
	leaf *fastjson.Value
	keys []string // in order of appearance
	kids map[string]*branch
}

func (g *gathered) add(root, key string, v *fastjson.Value) {
	if g.trees == nil {
		g.trees = map[string]*branch{}
	}
	b := g.trees[root]
	if b == nil {
		b = &branch{}
		g.trees[root] = b
		g.roots = append(g.roots, root)
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
			dst = append(appendJSONString(dst, own([]byte(key))), ':')
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
