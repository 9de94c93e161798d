package rows

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// attributes walks a list of {key, value} pairs as OTLP writes them, or an
// object with dotted keys, as if the keys were paths. Keys below one of the
// node's arrays are put together again: their numbers are positions.
func (p *Plan) attributes(n *Node, v *fastjson.Value) {
	var g notation.Dotted
	if v.Type() == fastjson.TypeString {
		if v = p.inner.Decode(string(v.GetStringBytes())); v == nil {
			return
		}
	}
	n.open = p.row
	notation.Pairs(v, func(key string, v *fastjson.Value) {
		if root := n.arrayOf(key); root != "" {
			g.Add(root, key, v)
			return
		}
		if c := n.Find(key); c != nil {
			p.walk(c, p.inner.Plain(v))
		}
	})
	for _, root := range g.Roots {
		c := n.Find(root)
		if c == nil {
			continue
		}
		if v := g.Value(root, &p.inner); v != nil {
			p.walk(c, v)
		}
	}
}

// arrayOf is the array that a key lies in, empty when in none.
func (n *Node) arrayOf(key string) string {
	for _, a := range n.arrays {
		if rest, ok := strings.CutPrefix(key, a); ok && len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
			return a
		}
	}
	return ""
}
