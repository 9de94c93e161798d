package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"github.com/valyala/fastjson"
)

// value makes the JSON of a node out of the values of the current row, by the
// levels that Dremel's paper defines.
func (p *parquetFile) nodeValue(n *parquetNode) *fastjson.Value {
	switch {
	case n.repeated:
		return p.array(n, n.maxRep, func() *fastjson.Value { return p.content(n) })
	case n.optional && p.lead(n).level() < n.maxDef:
		p.pass(n)
		return p.arena.NewNull()
	}
	return p.content(n)
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

func (p *parquetFile) content(n *parquetNode) *fastjson.Value {
	switch n.kind {
	case parquetLeaf:
		return p.leaf(n, n.column.take())
	case parquetList:
		inner := n.children[0]
		one := inner.single(n)
		return p.array(inner, inner.maxRep, func() *fastjson.Value {
			if one != nil {
				return p.nodeValue(one)
			}
			return p.content(inner)
		})
	case parquetMap:
		return p.mapping(n.children[0])
	}
	return p.object(n)
}

func (p *parquetFile) object(n *parquetNode) *fastjson.Value {
	o := p.arena.NewObject()
	for _, c := range n.children {
		if c.used && (c.kind == parquetLeaf || len(c.leaves(nil)) > 0) {
			o.Set(c.name, p.nodeValue(c))
		}
	}
	return o
}

// array reads the repetitions of a node.
func (p *parquetFile) array(n *parquetNode, level int, item func() *fastjson.Value) *fastjson.Value {
	out := p.arena.NewArray()
	c := p.lead(n)
	if c.level() < n.maxDef {
		p.pass(n)
		return out
	}
	for i := 0; ; i++ {
		out.SetArrayItem(i, item())
		if !c.again(level) {
			return out
		}
	}
}

// mapping reads keys and values; a key without values is null.
func (p *parquetFile) mapping(n *parquetNode) *fastjson.Value {
	out := p.arena.NewObject()
	c := p.lead(n)
	if c.level() < n.maxDef {
		p.pass(n)
		return out
	}
	for {
		key := p.nodeValue(n.children[0])
		value := p.arena.NewNull()
		if len(n.children) > 1 {
			value = p.nodeValue(n.children[1])
		}
		out.Set(rawJSON(key), value)
		if !c.again(n.maxRep) {
			return out
		}
	}
}

// leaf makes the JSON of one value.
func (p *parquetFile) leaf(n *parquetNode, v parquet.Value) *fastjson.Value {
	if v.IsNull() {
		return p.arena.NewNull()
	}
	switch v.Kind() {
	case parquet.Boolean:
		return p.bool(v.Boolean())
	case parquet.Int32:
		return p.whole(n, int64(v.Int32()), 32)
	case parquet.Int64:
		return p.whole(n, v.Int64(), 64)
	case parquet.Int96:
		t := v.Int96()
		return p.julian(t[0], t[1], t[2])
	case parquet.Float:
		return p.float(float64(v.Float()), 32)
	case parquet.Double:
		return p.float(v.Double(), 64)
	}
	return p.bytes(n, v.ByteArray())
}

// whole gives an integer the meaning that its column has.
func (p *parquetFile) whole(n *parquetNode, v int64, bits int) *fastjson.Value {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.TimestampType:
		return p.instant(v, perSecond(t.Unit), t.IsAdjustedToUTC)
	case *format.DateType:
		return p.date(v)
	case *format.TimeType:
		return p.clock(v, perSecond(t.Unit))
	case *format.DecimalType:
		return p.decimal(big.NewInt(v), int(t.Scale))
	case *format.IntType:
		return p.signed(v, bits, t.IsSigned)
	case nil:
	default:
		return p.int(v)
	}
	if !n.element.ConvertedType.Valid {
		return p.int(v)
	}
	switch n.element.ConvertedType.V {
	case deprecated.TimestampMillis:
		return p.instant(v, 1_000, true)
	case deprecated.TimestampMicros:
		return p.instant(v, 1_000_000, true)
	case deprecated.Date:
		return p.date(v)
	case deprecated.TimeMillis:
		return p.clock(v, 1_000)
	case deprecated.TimeMicros:
		return p.clock(v, 1_000_000)
	case deprecated.Decimal:
		return p.decimal(big.NewInt(v), int(n.element.Scale.V))
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return p.signed(v, bits, false)
	}
	return p.int(v)
}

func (p *parquetFile) signed(v int64, bits int, signed bool) *fastjson.Value {
	switch {
	case signed:
		return p.int(v)
	case bits == 32:
		return p.uint(uint64(uint32(v)))
	}
	return p.uint(uint64(v))
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
func (p *parquetFile) bytes(n *parquetNode, b []byte) *fastjson.Value {
	switch t := n.element.LogicalType.Value.(type) {
	case *format.DecimalType:
		return p.decimal(bigEndian(b), int(t.Scale))
	case *format.UUIDType:
		if len(b) == 16 {
			h := hex.EncodeToString(b)
			return p.arena.NewString(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
		}
	case *format.Float16Type:
		if len(b) == 2 {
			return p.float(half(binary.LittleEndian.Uint16(b)), 32)
		}
	case *format.StringType, *format.JsonType, *format.EnumType:
		return p.text(b)
	}
	if n.element.ConvertedType.Valid && n.element.ConvertedType.V == deprecated.Decimal {
		return p.decimal(bigEndian(b), int(n.element.Scale.V))
	}
	if n.element.Type.V == format.FixedLenByteArray || !utf8.Valid(b) {
		return p.arena.NewString(hex.EncodeToString(b))
	}
	return p.text(b)
}
