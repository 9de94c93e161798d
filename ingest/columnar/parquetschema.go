package columnar

import (
	"errors"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// parquetNode is a column, or a group of columns, of a file's schema.
type parquetNode struct {
	name     string
	element  *format.SchemaElement
	kind     parquetKind
	optional bool
	repeated bool
	maxDef   int // definition level at which the node itself is there
	maxRep   int
	used     bool
	read     int // leaves below that are read
	index    int // of a leaf, among the leaves
	children []*parquetNode
	all      []*parquetNode // leaves of the root
	column   *parquetColumn
}

type parquetKind uint8

const (
	parquetLeaf parquetKind = iota
	parquetGroup
	parquetList
	parquetMap
)

// parquetTree makes the tree of the schema, which the footer lists depth first.
func parquetTree(list []format.SchemaElement) (*parquetNode, error) {
	if len(list) == 0 || len(list) > maxColumns {
		return nil, source.Damaged("the Parquet file's schema is damaged")
	}
	t := &parquetBuilder{list: list}
	root, err := t.node(nil, 0)
	if err == nil && t.at != len(list) {
		err = source.Damaged("the Parquet file's schema is damaged")
	}
	if err != nil {
		return nil, err
	}
	root.kind, root.used = parquetGroup, true
	root.all = t.leaves
	return root, nil
}

type parquetBuilder struct {
	list   []format.SchemaElement
	at     int
	leaves []*parquetNode
}

const maxSchemaDepth = 64

func (t *parquetBuilder) node(parent *parquetNode, depth int) (*parquetNode, error) {
	if t.at >= len(t.list) || depth > maxSchemaDepth {
		return nil, source.Damaged("the Parquet file's schema is damaged")
	}
	e := &t.list[t.at]
	t.at++
	n := &parquetNode{name: e.Name, element: e, used: true}
	if parent != nil {
		n.maxDef, n.maxRep = parent.maxDef, parent.maxRep
		switch e.RepetitionType.V {
		case format.Optional:
			n.optional = true
			n.maxDef++
		case format.Repeated:
			n.repeated = true
			n.maxDef++
			n.maxRep++
		}
	}
	if !e.NumChildren.Valid || e.NumChildren.V == 0 && e.Type.Valid {
		n.index = len(t.leaves)
		t.leaves = append(t.leaves, n)
		return n, nil
	}
	for range max(e.NumChildren.V, 0) {
		c, err := t.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	n.kind = groupKind(n)
	return n, nil
}

// groupKind tells lists and maps from plain groups, by the rules for readers of
// old files too.
func groupKind(n *parquetNode) parquetKind {
	_, list := n.element.LogicalType.Value.(*format.ListType)
	_, mapped := n.element.LogicalType.Value.(*format.MapType)
	if c := n.element.ConvertedType; c.Valid && n.element.LogicalType.Value == nil {
		list = c.V == deprecated.List
		mapped = c.V == deprecated.Map || c.V == deprecated.MapKeyValue
	}
	if len(n.children) != 1 || !n.children[0].repeated {
		return parquetGroup
	}
	inner := n.children[0]
	switch {
	case list:
		return parquetList
	case mapped && len(inner.children) > 0 && len(inner.children) <= 2:
		return parquetMap
	}
	return parquetGroup
}

// element is what a list's repeated child holds: the only child of that, or, in
// the old layout of two levels, the repeated child itself.
// Source: parquet-format, LogicalTypes.md, "Backward-compatibility rules".
func (n *parquetNode) single(list *parquetNode) *parquetNode {
	if len(n.children) != 1 || n.name == "array" || n.name == list.name+"_tuple" {
		return nil
	}
	return n.children[0]
}

// leaves adds the used leaves below a node, and counts them in it.
func (n *parquetNode) leaves(to []*parquetNode) []*parquetNode {
	from := len(to)
	switch {
	case !n.used:
	case n.kind == parquetLeaf && n.element.Type.Valid:
		to = append(to, n)
	default:
		for _, c := range n.children {
			to = c.leaves(to)
		}
	}
	n.read = len(to) - from
	return to
}

// keep marks what of a column a mapping wants. Structs are looked into, lists
// and maps are taken whole.
func (n *parquetNode) keep(parent *rows.Node) bool {
	at := parent
	if !parent.Whole() {
		if at = parent.Find(n.name); at == nil {
			return false
		}
	}
	if at == parent || at.Whole() || n.kind != parquetGroup || n.repeated {
		n.mark()
		return true
	}
	any := false
	for _, c := range n.children {
		c.used = c.keep(at)
		any = any || c.used
	}
	return any
}

func (n *parquetNode) mark() {
	n.used = true
	for _, c := range n.children {
		c.mark()
	}
}

var errNoColumn = errors.New("a group has no column")

// first is a leaf below the node by which its presence is told.
func (n *parquetNode) first() (*parquetColumn, error) {
	for n.kind != parquetLeaf {
		var inner *parquetNode
		for _, c := range n.children {
			if c.used && c.read > 0 {
				inner = c
				break
			}
		}
		if inner == nil {
			return nil, errNoColumn
		}
		n = inner
	}
	if n.column == nil {
		return nil, errNoColumn
	}
	return n.column, nil
}
