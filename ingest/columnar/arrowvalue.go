package columnar

import (
	"math/big"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	arrowarray "github.com/apache/arrow-go/v18/arrow/array"
)

// arrowValue writes one value of an array.
func (s *scribe) arrowValue(a arrow.Array, i, depth int) {
	if a.IsNull(i) || depth > maxSchemaDepth {
		s.null()
		return
	}
	switch v := a.(type) {
	case *arrowarray.Boolean:
		s.bool(v.Value(i))
	case arrowarray.StringLike:
		s.str(v.Value(i))
	case *arrowarray.Binary:
		s.arrowBytes(v.Value(i))
	case *arrowarray.LargeBinary:
		s.arrowBytes(v.Value(i))
	case *arrowarray.BinaryView:
		s.arrowBytes(v.Value(i))
	case *arrowarray.FixedSizeBinary:
		s.hexed(v.Value(i))
	case *arrowarray.Dictionary:
		s.arrowValue(v.Dictionary(), v.GetValueIndex(i), depth+1)
	case *arrowarray.RunEndEncoded:
		s.arrowValue(v.Values(), v.GetPhysicalIndex(i), depth+1)
	case arrowarray.ExtensionArray:
		s.arrowValue(v.Storage(), i, depth+1)
	case *arrowarray.Struct:
		s.arrowStruct(v, i, depth)
	case *arrowarray.Map:
		s.arrowMap(v, i, depth)
	case arrowarray.ListLike:
		s.arrowList(v, i, depth)
	case arrowarray.Union:
		s.arrowUnion(v, i, depth)
	default:
		if !s.arrowNumber(a, i) {
			s.arrowTime(a, i)
		}
	}
}

func (s *scribe) arrowBytes(b []byte) {
	if utf8.Valid(b) {
		s.text(b)
		return
	}
	s.hexed(b)
}

// arrowNumber writes a number, and reports whether it is one.
func (s *scribe) arrowNumber(a arrow.Array, i int) bool {
	switch v := a.(type) {
	case *arrowarray.Int64:
		s.int(v.Value(i))
	case *arrowarray.Int32:
		s.int(int64(v.Value(i)))
	case *arrowarray.Int16:
		s.int(int64(v.Value(i)))
	case *arrowarray.Int8:
		s.int(int64(v.Value(i)))
	case *arrowarray.Uint64:
		s.uint(v.Value(i))
	case *arrowarray.Uint32:
		s.uint(uint64(v.Value(i)))
	case *arrowarray.Uint16:
		s.uint(uint64(v.Value(i)))
	case *arrowarray.Uint8:
		s.uint(uint64(v.Value(i)))
	case *arrowarray.Float64:
		s.float(v.Value(i), 64)
	case *arrowarray.Float32:
		s.float(float64(v.Value(i)), 32)
	case *arrowarray.Float16:
		s.float(half(v.Value(i).Uint16()), 32)
	case *arrowarray.Decimal32:
		s.decimal(big.NewInt(int64(v.Value(i))), int(v.DataType().(*arrow.Decimal32Type).Scale))
	case *arrowarray.Decimal64:
		s.decimal(big.NewInt(int64(v.Value(i))), int(v.DataType().(*arrow.Decimal64Type).Scale))
	case *arrowarray.Decimal128:
		s.decimal(v.Value(i).BigInt(), int(v.DataType().(*arrow.Decimal128Type).Scale))
	case *arrowarray.Decimal256:
		s.decimal(v.Value(i).BigInt(), int(v.DataType().(*arrow.Decimal256Type).Scale))
	default:
		return false
	}
	return true
}

// arrowTime writes text of instants and times, seconds of durations, and null of
// what has no form here (intervals of months).
func (s *scribe) arrowTime(a arrow.Array, i int) {
	switch v := a.(type) {
	case *arrowarray.Timestamp:
		t := v.DataType().(*arrow.TimestampType)
		s.instant(int64(v.Value(i)), unitOf(t.Unit), t.TimeZone != "") // with a zone the values count in UTC
	case *arrowarray.Date32:
		s.date(int64(v.Value(i)))
	case *arrowarray.Date64:
		s.instant(int64(v.Value(i)), 1_000, false)
	case *arrowarray.Time32:
		s.clock(int64(v.Value(i)), unitOf(v.DataType().(*arrow.Time32Type).Unit))
	case *arrowarray.Time64:
		s.clock(int64(v.Value(i)), unitOf(v.DataType().(*arrow.Time64Type).Unit))
	case *arrowarray.Duration:
		s.float(float64(v.Value(i))/float64(unitOf(v.DataType().(*arrow.DurationType).Unit)), 64)
	default:
		s.null()
	}
}

func unitOf(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1_000
	case arrow.Microsecond:
		return 1_000_000
	}
	return 1_000_000_000
}

func (s *scribe) arrowStruct(v *arrowarray.Struct, i, depth int) {
	s.open('{')
	t := v.DataType().(*arrow.StructType)
	for f := range v.NumField() {
		s.key(t.Field(f).Name)
		s.arrowValue(v.Field(f), i, depth+1)
	}
	s.shut('}')
}

func (s *scribe) arrowList(v arrowarray.ListLike, i, depth int) {
	s.open('[')
	inner := v.ListValues()
	for at, to := v.ValueOffsets(i); at < to; at++ {
		s.arrowValue(inner, int(at), depth+1)
	}
	s.shut(']')
}

func (s *scribe) arrowMap(v *arrowarray.Map, i, depth int) {
	s.open('{')
	from, to := v.ValueOffsets(i)
	for at := int(from); at < int(to); at++ {
		n := len(s.buf)
		s.arrowValue(v.Keys(), at, depth+1)
		s.asKey(n)
		s.arrowValue(v.Items(), at, depth+1)
	}
	s.shut('}')
}

func (s *scribe) arrowUnion(v arrowarray.Union, i, depth int) {
	inner := v.Field(v.ChildID(i))
	if dense, ok := v.(*arrowarray.DenseUnion); ok {
		i = int(dense.ValueOffset(i))
	}
	s.arrowValue(inner, i, depth+1)
}
