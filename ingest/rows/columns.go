package rows

import (
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// Names calls add with the paths of what is in v, which stands at path in the
// row, in the way that mappings write them: attributes by their keys, and no
// elements of the list that is exploded. The names begin with prefix.
func (p *Plan) Names(prefix, path string, v *fastjson.Value, add func(string)) {
	p.namesBelow(prefix, p.root.make(path), v, notation.MaxNameDepth, add)
}

func (p *Plan) namesBelow(prefix string, at *Node, v *fastjson.Value, depth int, add func(string)) {
	if at != nil && at.slot >= 0 && at.slot == p.explode {
		return // its elements are named by themselves
	}
	if prefix != "" && prefix != "^" {
		add(prefix)
	}
	if depth == 0 || v == nil {
		return
	}
	below := func(key string, v *fastjson.Value) {
		var next *Node
		if at != nil {
			next = at.Find(key)
		}
		if prefix != "" {
			key = prefix + "." + key
		}
		p.namesBelow(key, next, v, depth-1, add)
	}
	if at != nil && at.flat {
		notation.Pairs(v, func(key string, v *fastjson.Value) { below(zeroes(key), p.inner.Plain(v)) })
		return
	}
	switch v.Type() {
	case fastjson.TypeObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, v *fastjson.Value) { below(string(key), v) })
	case fastjson.TypeArray:
		if list := v.GetArray(); len(list) > 0 {
			below("0", list[0])
		}
	case fastjson.TypeString:
		b := v.GetStringBytes()
		if len(b) > 1 && (b[0] == '{' || b[0] == '[') {
			if inner, err := fastjson.ParseBytes(b); err == nil {
				p.namesBelow(prefix, at, inner, depth-1, add)
			}
		}
	}
}

// zeroes puts 0 for every position in a dotted key, so that a list is named once.
func zeroes(key string) string {
	steps := strings.Split(key, ".")
	for i, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			steps[i] = "0"
		}
	}
	return strings.Join(steps, ".")
}
