package jinja

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Values are nil (None), bool, int64, float64, string, markup, *List, *Dict,
// undefined, *namespace, *loop, and callable. Lists and dicts do not change once made.
type (
	// List is a list or a tuple.
	List struct {
		Items []any
		Tuple bool
		once  bool // a generator or a view of a dict: it has no JSON and no index
	}
	// Dict is a mapping in the order in which keys were added.
	Dict struct {
		keys   []any // nil, bool, int64, float64 or string
		values []any
		at     map[any]int // nil while there are few keys
	}
	undefined struct{ name string }
	// markup is text that |safe or |escape made: what is added to it is escaped.
	markup    string
	namespace struct{ vars Dict }
	// callable is a function, method or macro.
	callable func(s *state, a args) any
	// args are evaluated arguments.
	args struct {
		list  []any
		names []string
		named []any
	}
)

// fewKeys is up to how many keys a dict is searched key by key.
const fewKeys = 8

// key makes equal numbers equal keys, as Python does.
func key(v any) (any, bool) {
	switch k := bare(v).(type) {
	case nil, string, int64:
		return k, true
	case bool:
		if k {
			return int64(1), true
		}
		return int64(0), true
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k), true
		}
		return k, true
	}
	return nil, false
}

// Get returns the value of a key.
func (d *Dict) Get(k any) (any, bool) {
	if i := d.find(k); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

func (d *Dict) find(k any) int {
	if s, ok := k.(string); ok && d.at == nil {
		for i := range d.keys {
			if have, ok := d.keys[i].(string); ok && have == s {
				return i
			}
		}
		return -1
	}
	k, ok := key(k)
	if !ok {
		return -1
	}
	if d.at != nil {
		if i, ok := d.at[k]; ok {
			return i
		}
		return -1
	}
	for i := range d.keys {
		if have, _ := key(d.keys[i]); have == k {
			return i
		}
	}
	return -1
}

// Set adds a key or replaces its value; while the dict is made only. A key that
// cannot be one is left out.
func (d *Dict) Set(k, v any) {
	if i := d.find(k); i >= 0 {
		d.values[i] = v
		return
	}
	own, ok := key(k)
	if !ok {
		return
	}
	d.keys, d.values = append(d.keys, k), append(d.values, v)
	switch {
	case d.at != nil:
		d.at[own] = len(d.keys) - 1
	case len(d.keys) > fewKeys:
		d.at = make(map[any]int, 2*len(d.keys))
		for i, k := range d.keys {
			own, _ := key(k)
			d.at[own] = i
		}
	}
}

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// bare takes the mark off text that is safe.
func bare(v any) any {
	if m, ok := v.(markup); ok {
		return string(m)
	}
	return v
}

func isUndefined(v any) bool { _, ok := v.(undefined); return ok }

// truth is Python's bool().
func truth(v any) bool {
	switch x := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case markup:
		return x != ""
	case *List:
		return len(x.Items) > 0 || x.once && !x.Tuple
	case *Dict:
		return len(x.keys) > 0
	}
	return true
}

// number returns the value of a number; bool is one, as in Python.
func number(v any) (i int64, f float64, float, ok bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, 1, false, true
		}
		return 0, 0, false, true
	case int64:
		return x, float64(x), false, true
	case float64:
		return 0, x, true, true
	}
	return 0, 0, false, false
}

// equal is Python's ==.
func (s *state) equal(a, b any) bool {
	defer s.deeper()()
	s.step(1)
	a, b = bare(a), bare(b)
	ai, af, aIsFloat, aok := number(a)
	bi, bf, bIsFloat, bok := number(b)
	if aok || bok {
		if aIsFloat || bIsFloat {
			return aok && bok && af == bf
		}
		return aok && bok && ai == bi
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case undefined:
		return isUndefined(b)
	case string:
		y, ok := b.(string)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple || len(x.Items) != len(y.Items) {
			return false
		}
		for i := range x.Items {
			if !s.equal(x.Items[i], y.Items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for i, k := range x.keys {
			v, ok := y.Get(k)
			if !ok || !s.equal(x.values[i], v) {
				return false
			}
		}
		return true
	case *namespace:
		y, ok := b.(*namespace)
		return ok && x == y
	case *loop:
		y, ok := b.(*loop)
		return ok && x == y
	}
	return false
}

// less is Python's <.
func (s *state) less(a, b any) bool {
	s.step(1)
	a, b = bare(a), bare(b)
	ai, af, aIsFloat, aok := number(a)
	bi, bf, bIsFloat, bok := number(b)
	switch {
	case aok && bok && (aIsFloat || bIsFloat):
		return af < bf
	case aok && bok:
		return ai < bi
	}
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			return x < y
		}
	}
	if x, ok := a.(*List); ok {
		if y, ok := b.(*List); ok && x.Tuple == y.Tuple {
			defer s.deeper()()
			for i := range min(len(x.Items), len(y.Items)) {
				if !s.equal(x.Items[i], y.Items[i]) {
					return s.less(x.Items[i], y.Items[i])
				}
			}
			return len(x.Items) < len(y.Items)
		}
	}
	s.fail("%s and %s cannot be ordered", typeName(a), typeName(b))
	return false
}

// contains is Python's "x in over".
func (s *state) contains(over, x any) bool {
	over, x = bare(over), bare(x)
	switch o := over.(type) {
	case undefined:
		return false
	case string:
		sub, ok := x.(string)
		if !ok {
			s.fail("%s is looked for in a string", typeName(x))
		}
		s.step(len(o) / 64)
		return strings.Contains(o, sub)
	case *List:
		for _, v := range o.Items {
			if s.equal(v, x) {
				return true
			}
		}
		return false
	case *Dict:
		return o.find(x) >= 0
	case *namespace:
	}
	s.fail("%s holds nothing", typeName(over))
	return false
}

// iterate returns the values that a loop over v has.
func (s *state) iterate(v any) []any {
	switch x := bare(v).(type) {
	case undefined:
		return nil
	case *List:
		return x.Items
	case *Dict:
		return x.keys
	case string:
		out := make([]any, 0, utf8.RuneCountInString(x))
		s.step(cap(out))
		for i := range x {
			_, n := utf8.DecodeRuneInString(x[i:])
			out = append(out, x[i:i+n])
		}
		return out
	}
	s.fail("%s is no sequence", typeName(v))
	return nil
}

func (s *state) length(v any) int {
	switch x := bare(v).(type) {
	case undefined:
		return 0
	case string:
		return utf8.RuneCountInString(x)
	case *List:
		if !x.once || x.Tuple {
			return len(x.Items)
		}
	case *Dict:
		return len(x.keys)
	}
	s.fail("%s has no length", typeName(v))
	return 0
}

// typeName names a value's type; errors never hold the value itself.
func typeName(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case undefined:
		return "undefined " + x.name
	case bool:
		return "a bool"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case string, markup:
		return "a string"
	case *List:
		if x.once {
			return "a generator"
		}
		if x.Tuple {
			return "a tuple"
		}
		return "a list"
	case *Dict:
		return "a dict"
	case *namespace:
		return "a namespace"
	case *loop:
		return "a loop"
	}
	return "a function"
}
