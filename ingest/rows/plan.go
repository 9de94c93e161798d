package rows

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/scalar"
)

// Cell is the value of one mapped column in the current row: JSON, or the text
// of a table cell. Neither is absent; null and the empty cell are absent too.
type Cell struct {
	Value *fastjson.Value
	Text  string
}

// Absent says that the row has nothing in the column.
func (c Cell) Absent() bool { return c.Value == nil && c.Text == "" }

// Plan is the paths of one level of a mapping as a tree, and a cell for each.
type Plan struct {
	root    Node
	cells   []Cell
	explode int // slot of the list of the next level
	row     int64
	inner   notation.Decoder
	dup     bool
}

// Node is a step of a path. slot is -1 where no path ends.
type Node struct {
	slot   int
	next   map[string]*Node
	row    int64    // the row that last had it
	open   int64    // the row that last had an object there
	many   bool     // below a *, where several values are no mistake
	flat   bool     // holds attributes: {key, value} pairs or dotted keys
	arrays []string // of the attributes, keys whose numbers are positions
}

// NewPlan is a plan of no paths.
func NewPlan() *Plan { return &Plan{root: Node{slot: -1}, explode: -1} }

// Slot gives a path a cell, and returns its number. A path is keys joined by dots,
// with numbers for positions and * for any of them; "." is the row itself.
func (p *Plan) Slot(path string) int { return p.give(p.root.make(path)) }

// MarkAttributes says that the path holds attributes: {key, value} pairs or dotted
// keys. Below one of the arrays, numbers in the keys are positions.
func (p *Plan) MarkAttributes(path string, arrays []string) {
	n := p.root.make(path)
	p.give(n)
	n.flat, n.arrays = true, arrays
}

// Explode says at which path the list of the next level lies.
func (p *Plan) Explode(path string) { p.explode = p.Slot(path) }

// Exploded is the elements of that list in the current row.
func (p *Plan) Exploded() []*fastjson.Value { return p.list(p.cells[p.explode]) }

// Cell is what the current row has in a slot.
func (p *Plan) Cell(slot int) Cell { return p.cells[slot] }

// Above is the node that a path's last step is in; nil for one of a single step.
func (p *Plan) Above(path string) *Node {
	at := strings.LastIndexByte(path, '.')
	if at < 1 {
		return nil
	}
	return p.root.make(path[:at])
}

// Opened reports whether the current row has an object at a node.
func (p *Plan) Opened(n *Node) bool { return n.open == p.row }

// Decode reads a list or object that is kept as text; it lives as long as the row.
func (p *Plan) Decode(s string) *fastjson.Value { return p.inner.Decode(s) }

// Root is the row itself.
func (p *Plan) Root() *Node { return &p.root }

// Find is the node of a column, nil for one that nobody wants.
func (p *Plan) Find(column string) *Node { return p.root.Find(column) }

// Wants says that a column, or something in it, is wanted.
func (p *Plan) Wants(column string) bool { return p.root.Whole() || p.root.Find(column) != nil }

// Covers reports whether the column at path, or one above it, is read.
func (p *Plan) Covers(path string) bool { return p.root.covers(path) }

// Put fills in a column that is text, after Start. JSON in it is looked into.
func (p *Plan) Put(n *Node, text string) *Error {
	if n.row == p.row {
		return twice()
	}
	n.row = p.row
	if n.slot >= 0 {
		p.cells[n.slot] = Cell{Text: text}
	}
	if len(n.next) > 0 {
		p.walkText(n, text)
	}
	return nil
}

// Take fills the plan from the value of a row.
func (p *Plan) Take(row *fastjson.Value) *Error {
	p.Start()
	p.walk(&p.root, row)
	if p.dup {
		return twice()
	}
	return nil
}

func twice() *Error { return Bad(DuplicateKey, "a mapped column is there twice") }

// give gives a node a cell.
func (p *Plan) give(n *Node) int {
	if n.slot < 0 {
		n.slot = len(p.cells)
		p.cells = append(p.cells, Cell{})
	}
	return n.slot
}

func (n *Node) make(path string) *Node {
	if path == "." {
		return n
	}
	for step := range strings.SplitSeq(path, ".") {
		if n.next == nil {
			n.next = map[string]*Node{}
		}
		if n.next[step] == nil {
			n.next[step] = &Node{slot: -1, many: n.many || step == "*"}
		}
		n = n.next[step]
	}
	return n
}

// Find follows a path whose steps may be joined by dots in one key, as flat
// exports write nested names.
func (n *Node) Find(path string) *Node {
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

// Whole says that all of a node is wanted, whatever lies below it.
func (n *Node) Whole() bool { return n.slot >= 0 || n.flat }

// covers is plan.covers below a node.
func (n *Node) covers(path string) bool {
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

// Start forgets the row before. Take does so itself.
func (p *Plan) Start() {
	clear(p.cells)
	p.row++
	p.inner.Reset()
	p.dup = false
}

// walk takes the cells out of a JSON value. Text that holds JSON is looked
// into, as many exports store bodies as strings.
func (p *Plan) walk(n *Node, v *fastjson.Value) {
	if n.row == p.row && !n.many {
		p.dup = true
	}
	n.row = p.row
	if n.slot >= 0 && v.Type() != fastjson.TypeNull {
		p.cells[n.slot] = Cell{Value: v}
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
		n.open = p.row
		o, _ := v.Object()
		o.Visit(func(key []byte, v *fastjson.Value) {
			if c := n.Find(string(key)); c != nil {
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

func (p *Plan) walkArray(n *Node, v *fastjson.Value) {
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
func (p *Plan) walkText(n *Node, s string) {
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
func (p *Plan) list(c Cell) []*fastjson.Value {
	v := c.Value
	if v == nil || v.Type() == fastjson.TypeString {
		s := c.Text
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
