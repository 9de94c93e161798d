package table

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Column describes one column of rows of type T: its name and Parquet node,
// and how values go from rows to the file and back.
type Column[T any] struct {
	name string
	node parquet.Node
	put  func(rows []T, dst []parquet.Value) []parquet.Value
	get  func(row *T, vals []parquet.Value) error
	cell func(row *T) any

	items func(row *T) int // of a list; nil for other columns
}

// Name returns the column's name.
func (c Column[T]) Name() string { return c.name }

func delta(n parquet.Node) parquet.Node { return parquet.Encoded(n, &parquet.DeltaBinaryPacked) }

func dictionary() parquet.Node { return parquet.Encoded(parquet.String(), &parquet.RLEDictionary) }

type integer interface {
	~int16 | ~int32 | ~int64
}

// intNode returns the node, and the constructor of a value, for integers of a
// width; 16-bit integers are stored as INT32 with the logical type int16.
func intNode(bits int) parquet.Node { return delta(parquet.Int(bits)) }

func intValue(bits int, v int64) parquet.Value {
	if bits == 64 {
		return parquet.Int64Value(v)
	}
	return parquet.Int32Value(int32(v))
}

func intOf(bits int, v parquet.Value) int64 {
	if bits == 64 {
		return v.Int64()
	}
	return int64(v.Int32())
}

// width gives the bits of an integer type.
func width[I integer]() int {
	switch any(I(0)).(type) {
	case int16:
		return 16
	case int32:
		return 32
	default:
		return 64
	}
}

// Int is a required integer column of 16, 32 or 64 bits, packed as deltas.
func Int[T any, I integer](name string, at func(*T) *I) Column[T] {
	bits := width[I]()
	return Column[T]{
		name: name,
		node: intNode(bits),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				dst = append(dst, intValue(bits, int64(*at(&rows[i]))))
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = I(intOf(bits, vals[0]))
			return nil
		},
		cell: func(r *T) any { return int64(*at(r)) },
	}
}

// OptInt is an integer column that may be null.
func OptInt[T any, I integer](name string, at func(*T) *Opt[I]) Column[T] {
	bits := width[I]()
	return Column[T]{
		name: name,
		node: parquet.Optional(intNode(bits)),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				if o := at(&rows[i]); o.OK {
					dst = append(dst, intValue(bits, int64(o.V)).Level(0, 1, 0))
				} else {
					dst = append(dst, parquet.Value{})
				}
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			if vals[0].IsNull() {
				*at(r) = Opt[I]{}
				return nil
			}
			*at(r) = Some(I(intOf(bits, vals[0])))
			return nil
		},
		cell: func(r *T) any {
			if o := at(r); o.OK {
				return int64(o.V)
			}
			return nil
		},
	}
}

// Bool is a required boolean column.
func Bool[T any](name string, at func(*T) *bool) Column[T] {
	return Column[T]{
		name: name,
		node: parquet.Leaf(parquet.BooleanType),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				dst = append(dst, parquet.BooleanValue(*at(&rows[i])))
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = vals[0].Boolean()
			return nil
		},
		cell: func(r *T) any { return *at(r) },
	}
}

// OptBool is a boolean column that may be null.
func OptBool[T any](name string, at func(*T) *Opt[bool]) Column[T] {
	return Column[T]{
		name: name,
		node: parquet.Optional(parquet.Leaf(parquet.BooleanType)),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				if o := at(&rows[i]); o.OK {
					dst = append(dst, parquet.BooleanValue(o.V).Level(0, 1, 0))
				} else {
					dst = append(dst, parquet.Value{})
				}
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			if vals[0].IsNull() {
				*at(r) = Opt[bool]{}
				return nil
			}
			*at(r) = Some(vals[0].Boolean())
			return nil
		},
		cell: func(r *T) any {
			if o := at(r); o.OK {
				return o.V
			}
			return nil
		},
	}
}

// Float is a required double column.
func Float[T any](name string, at func(*T) *float64) Column[T] {
	return Column[T]{
		name: name,
		node: parquet.Leaf(parquet.DoubleType),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				dst = append(dst, parquet.DoubleValue(*at(&rows[i])))
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = vals[0].Double()
			return nil
		},
		cell: func(r *T) any { return *at(r) },
	}
}

// OptString is a string column, dictionary-encoded; the empty string is stored
// as null.
func OptString[T any](name string, at func(*T) *string) Column[T] {
	return Column[T]{
		name: name,
		node: parquet.Optional(dictionary()),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				if s := *at(&rows[i]); s != "" {
					dst = append(dst, parquet.ByteArrayValue([]byte(s)).Level(0, 1, 0))
				} else {
					dst = append(dst, parquet.Value{})
				}
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = ""
			if !vals[0].IsNull() {
				*at(r) = string(vals[0].ByteArray())
			}
			return nil
		},
		cell: func(r *T) any {
			if s := *at(r); s != "" {
				return s
			}
			return nil
		},
	}
}

// String is a required string column, dictionary-encoded.
func String[T any](name string, at func(*T) *string) Column[T] {
	return Column[T]{
		name: name,
		node: dictionary(),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				dst = append(dst, parquet.ByteArrayValue([]byte(*at(&rows[i]))))
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = string(vals[0].ByteArray())
			return nil
		},
		cell: func(r *T) any { return *at(r) },
	}
}

// Enum is a closed enumeration stored as its name; names[i] is the name of
// value i. A name outside the list is an error on reading.
func Enum[T any, E ~uint8](name string, names []string, at func(*T) *E) Column[T] {
	stored := make([]parquet.Value, len(names))
	for i, n := range names {
		stored[i] = parquet.ByteArrayValue([]byte(n))
	}
	return Column[T]{
		name: name,
		node: dictionary(),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for i := range rows {
				dst = append(dst, stored[int(*at(&rows[i]))])
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			i := slices.Index(names, string(vals[0].ByteArray()))
			if i < 0 {
				return fmt.Errorf("unknown value; known: %v", names)
			}
			*at(r) = E(i)
			return nil
		},
		cell: func(r *T) any { return names[int(*at(r))] },
	}
}

// Ints is a list of 32-bit integers, packed as deltas; no list and an empty
// list are the same.
func Ints[T any](name string, at func(*T) *[]int32) Column[T] {
	return Column[T]{
		name: name,
		node: parquet.List(delta(parquet.Int(32))),
		put: func(rows []T, dst []parquet.Value) []parquet.Value {
			for r := range rows {
				list := *at(&rows[r])
				if len(list) == 0 {
					dst = append(dst, parquet.Value{})
				}
				for i, v := range list {
					dst = append(dst, parquet.Int32Value(v).Level(min(i, 1), 1, 0))
				}
			}
			return dst
		},
		get: func(r *T, vals []parquet.Value) error {
			*at(r) = nil
			if len(vals) == 1 && vals[0].IsNull() {
				return nil
			}
			list := make([]int32, len(vals))
			for i, v := range vals {
				list[i] = v.Int32()
			}
			*at(r) = list
			return nil
		},
		cell:  func(r *T) any { return append([]int32{}, *at(r)...) },
		items: func(r *T) int { return len(*at(r)) },
	}
}
