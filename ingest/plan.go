package ingest

import (
	"strings"

	"github.com/valyala/fastjson"
)

// cell is the value of one mapped column in the current row: JSON, or the text
// of a table cell. Neither is absent; null and the empty cell are absent too.
type cell struct {
	node *fastjson.Value
	text string
}

func (c cell) absent() bool { return c.node == nil && c.text == "" }

// plan is a mapping made ready for rows: the paths as a tree and a cell for
// each. One reader uses it at a time.
type plan struct {
	cols  [numFields][]planColumn
	root  node
	cells []cell
	row   int64
	inner nested
	dup   bool
}

type planColumn struct {
	slot int
	unit string
}

// node is a step of a path. slot is -1 where no path ends.
type node struct {
	slot int
	next map[string]*node
	row  int64 // the row that last had it
}

func newPlan(m *Mapping) *plan {
	p := &plan{root: node{slot: -1}}
	for f, cols := range m.Fields {
		for _, c := range cols {
			n := p.root.make(c.Path)
			if n.slot < 0 {
				n.slot = len(p.cells)
				p.cells = append(p.cells, cell{})
			}
			p.cols[f] = append(p.cols[f], planColumn{slot: n.slot, unit: c.Unit})
		}
	}
	return p
}

func (n *node) make(path string) *node {
	for step := range strings.SplitSeq(path, ".") {
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[step] == nil {
			n.next[step] = &node{slot: -1}
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
		if n = n.next[step]; n == nil {
			return false
		}
		if n.slot >= 0 {
			return true
		}
	}
	return false
}

// start forgets the row before.
func (p *plan) start() {
	clear(p.cells)
	p.row++
	p.inner.used = 0
	p.dup = false
}

// walk takes the cells out of a JSON value. Text that holds JSON is looked
// into, as many exports store bodies as strings.
func (p *plan) walk(n *node, v *fastjson.Value) {
	if n.row == p.row {
		p.dup = true
	}
	n.row = p.row
	if n.slot >= 0 && v.Type() != fastjson.TypeNull {
		p.cells[n.slot] = cell{node: v}
	}
	if len(n.next) == 0 {
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
		list, _ := v.Array()
		for i := range min(len(list), 10) {
			if c := n.next[string(rune('0'+i))]; c != nil {
				p.walk(c, list[i])
			}
		}
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		p.walkText(n, string(b))
	}
}

// walkText looks for JSON in a string; other strings have nothing below them.
func (p *plan) walkText(n *node, s string) {
	if s = strings.TrimLeft(s, " \t\r\n"); s == "" || (s[0] != '{' && s[0] != '[') {
		return
	}
	v := p.inner.parse(s)
	if v == nil {
		return
	}
	at := n.row
	n.row = 0
	slot := n.slot
	n.slot = -1 // the string itself is the cell
	p.walk(n, v)
	n.row, n.slot = at, slot
}

// nested holds the parsers of JSON inside strings; values live as long as the
// row.
type nested struct {
	parsers []*fastjson.Parser
	used    int
}

func (n *nested) parse(s string) *fastjson.Value {
	if n.used == len(n.parsers) {
		n.parsers = append(n.parsers, &fastjson.Parser{})
	}
	v, err := n.parsers[n.used].Parse(s)
	if err != nil {
		return nil
	}
	n.used++
	return v
}
