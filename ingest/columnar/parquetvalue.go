package columnar

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// nodeValue writes a node out of the values of the current row, by the levels
// that Dremel's paper defines.
func (p *parquetFile) nodeValue(n *parquetNode) {
	switch {
	case n.repeated:
		p.array(n, func() { p.content(n) })
	case n.optional && p.lead(n).level() < n.maxDef:
		p.pass(n)
		p.null()
	default:
		p.content(n)
	}
}

// lead is the column by which a node's presence is told.
func (p *parquetFile) lead(n *parquetNode) *parquetColumn {
	c, err := n.first()
	if err != nil {
		panic(err) // recovered in parquetFile.row
	}
	return c
}

// pass takes the entry that stands for a missing node out of all its columns.
func (p *parquetFile) pass(n *parquetNode) {
	if !n.used {
		return
	}
	if n.kind == parquetLeaf {
		n.column.take()
		return
	}
	for _, c := range n.children {
		p.pass(c)
	}
}

func (p *parquetFile) content(n *parquetNode) {
	switch n.kind {
	case parquetLeaf:
		p.leaf(n, n.column.take())
	case parquetList:
		inner := n.children[0]
		one := inner.single(n)
		p.array(inner, func() {
			if one != nil {
				p.nodeValue(one)
			} else {
				p.content(inner)
			}
		})
	case parquetMap:
		p.mapping(n.children[0])
	default:
		p.open('{')
		p.fields(n)
		p.shut('}')
	}
}

// fields writes the members of a group that are read.
func (p *parquetFile) fields(n *parquetNode) {
	for _, c := range n.children {
		if c.used && c.read > 0 {
			p.key(c.name)
			p.nodeValue(c)
		}
	}
}

// array writes the repetitions of a node.
func (p *parquetFile) array(n *parquetNode, item func()) {
	p.open('[')
	p.each(n, item)
	p.shut(']')
}

// each calls do for every repetition of a node.
func (p *parquetFile) each(n *parquetNode, do func()) {
	c := p.lead(n)
	if c.level() < n.maxDef {
		p.pass(n)
		return
	}
	for do(); c.again(n.maxRep); {
		do()
	}
}

// mapping writes keys and values; a key without values is null.
func (p *parquetFile) mapping(n *parquetNode) {
	p.open('{')
	p.each(n, func() {
		from := len(p.buf)
		p.nodeValue(n.children[0])
		p.asKey(from)
		if len(n.children) > 1 {
			p.nodeValue(n.children[1])
		} else {
			p.null()
		}
	})
	p.shut('}')
}

// leaf writes one value.
func (p *parquetFile) leaf(n *parquetNode, v parquet.Value) {
	if v.IsNull() {
		p.null()
		return
	}
	switch v.Kind() {
	case parquet.Boolean:
		p.bool(v.Boolean())
	case parquet.Int32:
		p.whole(n, int64(v.Int32()), 32)
	case parquet.Int64:
		p.whole(n, v.Int64(), 64)
	case parquet.Int96:
		t := v.Int96()
		p.julian(t[0], t[1], t[2])
	case parquet.Float:
		p.float(float64(v.Float()), 32)
	case parquet.Double:
		p.float(v.Double(), 64)
	default:
		p.bytes(n, v.ByteArray())
	}
}

// whole gives an integer the meaning that its column has.
func (p *parquetFile) whole(n *parquetNode, v int64, bits int) {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.TimestampType:
		p.instant(v, perSecond(t.Unit), t.IsAdjustedToUTC)
	case *format.DateType:
		p.date(v)
	case *format.TimeType:
		p.clock(v, perSecond(t.Unit))
	case *format.DecimalType:
		p.decimal(big.NewInt(v), int(t.Scale))
	case *format.IntType:
		p.signed(v, bits, t.IsSigned)
	case nil:
		p.converted(n, v, bits)
	default:
		p.int(v)
	}
}

// converted is whole for files from before logical types.
func (p *parquetFile) converted(n *parquetNode, v int64, bits int) {
	kind := n.element.ConvertedType
	if !kind.Valid {
		p.int(v)
		return
	}
	switch kind.V {
	case deprecated.TimestampMillis:
		p.instant(v, 1_000, true)
	case deprecated.TimestampMicros:
		p.instant(v, 1_000_000, true)
	case deprecated.Date:
		p.date(v)
	case deprecated.TimeMillis:
		p.clock(v, 1_000)
	case deprecated.TimeMicros:
		p.clock(v, 1_000_000)
	case deprecated.Decimal:
		p.decimal(big.NewInt(v), int(n.element.Scale.V))
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		p.signed(v, bits, false)
	default:
		p.int(v)
	}
}

func (p *parquetFile) signed(v int64, bits int, signed bool) {
	switch {
	case signed:
		p.int(v)
	case bits == 32:
		p.uint(uint64(uint32(v)))
	default:
		p.uint(uint64(v))
	}
}

func perSecond(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MicroSeconds:
		return 1_000_000
	case *format.NanoSeconds:
		return 1_000_000_000
	}
	return 1_000
}

// bytes gives bytes the meaning that their column has; those without one are
// text, or in hex when they are none.
func (p *parquetFile) bytes(n *parquetNode, b []byte) {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.DecimalType:
		p.decimal(bigEndian(b), int(t.Scale))
		return
	case *format.UUIDType:
		if len(b) == 16 {
			h := hex.EncodeToString(b)
			p.str(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
			return
		}
	case *format.Float16Type:
		if len(b) == 2 {
			p.float(half(binary.LittleEndian.Uint16(b)), 32)
			return
		}
	case *format.StringType, *format.JsonType, *format.EnumType:
		p.text(b)
		return
	}
	switch c := n.element.ConvertedType; {
	case c.Valid && c.V == deprecated.Decimal:
		p.decimal(bigEndian(b), int(n.element.Scale.V))
	case n.element.Type.V == format.FixedLenByteArray, !utf8.Valid(b):
		p.hexed(b)
	default:
		p.text(b)
	}
}
