package ingest

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/scalar"
)

// cell is the value of one mapped column in the current row: JSON, or the text
// of a table cell. Neither is absent; null and the empty cell are absent too.
type cell struct {
	node *fastjson.Value
	text string
}

func (c cell) absent() bool { return c.node == nil && c.text == "" }

// plan is the paths of one level of a mapping as a tree, and a cell for each.
type plan struct {
	root    node
	cells   []cell
	explode int // slot of the list of the next level
	row     int64
	inner   notation.Decoder
	dup     bool
}

// node is a step of a path. slot is -1 where no path ends.
type node struct {
	slot   int
	next   map[string]*node
	row    int64    // the row that last had it
	many   bool     // below a *, where several values are no mistake
	flat   bool     // holds attributes: {key, value} pairs or dotted keys
	arrays []string // of the attributes, keys whose numbers are positions
}

func newPlan() *plan { return &plan{root: node{slot: -1}, explode: -1} }

// slot gives a node a cell.
func (p *plan) slot(n *node) int {
	if n.slot < 0 {
		n.slot = len(p.cells)
		p.cells = append(p.cells, cell{})
	}
	return n.slot
}

func (n *node) make(path string) *node {
	if path == "." {
		return n
	}
	for step := range strings.SplitSeq(path, ".") {
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[step] == nil {
			n.next[step] = &node{slot: -1, many: n.many || step == "*"}
		}
		n = n.next[step]
	}
	return n
}

// find follows a path whose steps may be joined by dots in one key, as flat
// exports write nested names.
func (n *node) find(path string) *node {
	for n != nil {
		if c := n.next[path]; c != nil {
			return c
		}
		step, rest, dotted := strings.Cut(path, ".")
		if !dotted {
			return nil
		}
		n, path = n.next[step], rest
	}
	return nil
}

// covers reports whether the column at path, or one above it, is mapped.
func (n *node) covers(path string) bool {
	for step := range strings.SplitSeq(path, ".") {
		c := n.next[step]
		if c == nil && len(step) > 0 && scalar.Digits(step) {
			c = n.next["*"]
		}
		if n = c; n == nil {
			return false
		}
		if n.slot >= 0 && !n.flat {
			return true
		}
	}
	return false
}

// start forgets the row before.
func (p *plan) start() {
	clear(p.cells)
	p.row++
	p.inner.Reset()
	p.dup = false
}

// walk takes the cells out of a JSON value. Text that holds JSON is looked
// into, as many exports store bodies as strings.
func (p *plan) walk(n *node, v *fastjson.Value) {
	if n.row == p.row && !n.many {
		p.dup = true
	}
	n.row = p.row
	if n.slot >= 0 && v.Type() != fastjson.TypeNull {
		p.cells[n.slot] = cell{node: v}
	}
	if len(n.next) == 0 {
		return
	}
	if n.flat {
		p.attributes(n, v)
		return
	}
	switch v.Type() {
	case fastjson.TypeObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, v *fastjson.Value) {
			if c := n.find(string(key)); c != nil {
				p.walk(c, v)
			}
		})
	case fastjson.TypeArray:
		p.walkArray(n, v)
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		p.walkText(n, string(b))
	}
}

func (p *plan) walkArray(n *node, v *fastjson.Value) {
	list, _ := v.Array()
	for i := range min(len(list), 10) {
		if c := n.next[string(rune('0'+i))]; c != nil {
			p.walk(c, list[i])
		}
	}
	if c := n.next["*"]; c != nil {
		for _, v := range list {
			p.walk(c, v)
		}
	}
}

// walkText looks for values in a string; other strings have nothing below them.
func (p *plan) walkText(n *node, s string) {
	v := p.inner.Decode(s)
	if v == nil {
		return
	}
	at, slot := n.row, n.slot
	n.row, n.slot = 0, -1 // the string itself is the cell
	p.walk(n, v)
	n.row, n.slot = at, slot
}

// list is the elements of a list, in JSON or in text; of an object, itself.
func (p *plan) list(c cell) []*fastjson.Value {
	v := c.node
	if v == nil || v.Type() == fastjson.TypeString {
		s := c.text
		if v != nil {
			s = string(v.GetStringBytes())
		}
		v = p.inner.Decode(s)
	}
	switch {
	case v == nil:
	case v.Type() == fastjson.TypeArray:
		return v.GetArray()
	case v.Type() == fastjson.TypeObject:
		return []*fastjson.Value{v}
	}
	return nil
}
