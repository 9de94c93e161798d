package jinja

import (
	"strings"
	"unicode/utf8"
)

func (n *attrExpr) eval(s *state) any {
	s.step(1)
	return s.attr(n.x.eval(s), n.name)
}

// attr is x.name: a method or attribute, else an item.
func (s *state) attr(x any, name string) any {
	switch v := bare(x).(type) {
	case undefined:
		s.undefined(v)
	case *namespace:
		if got, ok := v.vars.Get(name); ok {
			return got
		}
		return undefined{"attribute " + name}
	case *loop:
		return v.attr(s, name)
	case string:
		if m := stringMethod(name, v); m != nil {
			return m
		}
	case *List:
		if m := listMethod(name, v); m != nil {
			return m
		}
	case *Dict:
		if m := dictMethod(name, v); m != nil {
			return m
		}
		if got, ok := v.Get(name); ok {
			return got
		}
	}
	return undefined{"attribute " + name}
}

func (n *itemExpr) eval(s *state) any {
	x, k := n.x.eval(s), n.key.eval(s)
	s.step(1)
	return s.item(x, k)
}

// item is x[k]: an item, else an attribute.
func (s *state) item(x, k any) any {
	x, k = bare(x), bare(k)
	i, _, float, isInt := number(k)
	isInt = isInt && !float
	switch v := x.(type) {
	case undefined:
		s.undefined(v)
	case *List:
		if isInt && !v.once {
			if i < 0 {
				i += int64(len(v.Items))
			}
			if i >= 0 && i < int64(len(v.Items)) {
				return v.Items[i]
			}
			return undefined{"item of that index"}
		}
	case string:
		if isInt {
			if c, ok := runeAt(v, i); ok {
				return c
			}
			return undefined{"character of that index"}
		}
	case *Dict:
		if got, ok := v.Get(k); ok {
			return got
		}
	}
	if name, ok := k.(string); ok {
		return s.attr(x, name)
	}
	return undefined{"item"}
}

func runeAt(v string, i int64) (string, bool) {
	if i < 0 {
		i += int64(utf8.RuneCountInString(v))
	}
	if i < 0 {
		return "", false
	}
	for at := range v {
		if i == 0 {
			_, n := utf8.DecodeRuneInString(v[at:])
			return v[at : at+n], true
		}
		i--
	}
	return "", false
}

func (n *sliceExpr) eval(s *state) any {
	x := bare(n.x.eval(s))
	bound := func(e expr) (int64, bool) {
		if e == nil {
			return 0, false
		}
		v := e.eval(s)
		i, _, float, ok := number(v)
		if v != nil && (!ok || float) {
			s.fail("a slice from or to %s", typeName(v))
		}
		return i, v != nil
	}
	from, hasFrom := bound(n.from)
	to, hasTo := bound(n.to)
	step, hasStep := bound(n.step)
	if !hasStep {
		step = 1
	}
	if step == 0 {
		s.fail("a slice in steps of 0")
	}
	if isUndefined(x) {
		s.undefined(x)
	}
	var items []any
	text, isText := x.(string)
	if l, ok := x.(*List); ok && !l.once {
		items = l.Items
	} else if isText {
		items = s.iterate(x)
	} else {
		return undefined{"slice"}
	}
	var out []any
	n64 := int64(len(items))
	step = min(max(step, -n64-1), n64+1)
	at, end := sliceBounds(n64, from, to, step, hasFrom, hasTo)
	s.made(8 * len(items))
	for ; step > 0 && at < end || step < 0 && at > end; at += step {
		out = append(out, items[at])
	}
	if !isText {
		return &List{Items: out, Tuple: x.(*List).Tuple}
	}
	var b strings.Builder
	s.made(len(text))
	for _, c := range out {
		b.WriteString(c.(string))
	}
	return b.String()
}

// sliceBounds are those of Python's slice.indices.
func sliceBounds(n, from, to, step int64, hasFrom, hasTo bool) (int64, int64) {
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	clip := func(v int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	start, end := low, high
	if step < 0 {
		start, end = high, low
	}
	if hasFrom {
		start = clip(from)
	}
	if hasTo {
		end = clip(to)
	}
	return start, end
}

// args evaluates arguments.
func (s *state) args(a *arguments) args {
	var out args
	for _, x := range a.list {
		out.list = append(out.list, x.eval(s))
	}
	if a.rest != nil {
		out.list = append(out.list, s.iterate(a.rest.eval(s))...)
	}
	out.names = append(out.names, a.names...)
	for _, x := range a.values {
		out.named = append(out.named, x.eval(s))
	}
	if a.kwrest != nil {
		d, ok := a.kwrest.eval(s).(*Dict)
		if !ok {
			s.fail("** wants a dict")
		}
		for i, k := range d.keys {
			name, ok := k.(string)
			if !ok {
				s.fail("** wants a dict of names")
			}
			out.names, out.named = append(out.names, name), append(out.named, d.values[i])
		}
	}
	return out
}

func (n *callExpr) eval(s *state) any {
	s.step(1)
	fn := n.fn.eval(s)
	a := s.args(&n.args)
	s.line = n.line
	return s.call(fn, a)
}

func (s *state) call(fn any, a args) any {
	switch f := fn.(type) {
	case callable:
		return f(s, a)
	case *loop:
		if f.again != nil {
			return f.again(s, a)
		}
	case undefined:
		s.undefined(f)
	}
	s.fail("%s is no function", typeName(fn))
	return nil
}

func (n *filterExpr) eval(s *state) any {
	s.step(1)
	return n.fn(s, n.x.eval(s), s.args(&n.args))
}

func (n *testExpr) eval(s *state) any {
	s.step(1)
	return n.fn(s, n.x.eval(s), s.args(&n.args)) != n.not
}
