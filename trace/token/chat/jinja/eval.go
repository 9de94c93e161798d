package jinja

import (
	"math"
	"strings"
	"unicode/utf8"
)

func (c *constant) eval(*state) any { return c.v }

func (n *nameExpr) eval(s *state) any {
	s.step(1)
	if v, ok := s.scope.get(n.name); ok {
		return v
	}
	if f := global(n.name); f != nil {
		return f
	}
	return undefined{n.name}
}

func (l *listExpr) eval(s *state) any {
	out := &List{Tuple: l.tuple}
	if len(l.items) > 0 {
		s.made(16 * len(l.items))
		out.Items = make([]any, len(l.items))
	}
	for i, x := range l.items {
		out.Items[i] = x.eval(s)
	}
	return out
}

func (d *dictExpr) eval(s *state) any {
	out := &Dict{}
	s.made(64 * len(d.keys))
	for i, k := range d.keys {
		name := k.eval(s)
		if _, ok := key(name); !ok {
			s.fail("%s cannot be a key", typeName(name))
		}
		out.Set(name, d.values[i].eval(s))
	}
	return out
}

func (c *condExpr) eval(s *state) any {
	s.step(1)
	switch {
	case truth(c.test.eval(s)):
		return c.yes.eval(s)
	case c.no != nil:
		return c.no.eval(s)
	}
	return undefined{"value of an if without else"}
}

func (n *notExpr) eval(s *state) any { return !truth(n.x.eval(s)) }

func (n *andExpr) eval(s *state) any {
	if a := n.a.eval(s); !truth(a) {
		return a
	}
	return n.b.eval(s)
}

func (n *orExpr) eval(s *state) any {
	if a := n.a.eval(s); truth(a) {
		return a
	}
	return n.b.eval(s)
}

func (n *signExpr) eval(s *state) any {
	i, f, float, ok := number(n.x.eval(s))
	switch {
	case !ok:
		s.fail("a sign before what is no number")
	case float && n.neg:
		return -f
	case float:
		return f
	case n.neg:
		return -i
	}
	return i
}

func (n *concatExpr) eval(s *state) any {
	values := make([]any, len(n.parts))
	for i, p := range n.parts {
		values[i] = p.eval(s)
	}
	return join(s, values, "", false)
}

func (n *compareExpr) eval(s *state) any {
	a := n.first.eval(s)
	for i, op := range n.ops {
		b := n.rest[i].eval(s)
		if !s.compare(op, a, b) {
			return false
		}
		a = b
	}
	return true
}

func (s *state) compare(op string, a, b any) bool {
	s.step(1)
	switch op {
	case "==":
		return s.equal(a, b)
	case "!=":
		return !s.equal(a, b)
	case "in":
		return s.contains(b, a)
	case "not in":
		return !s.contains(b, a)
	}
	if isUndefined(a) {
		s.undefined(a)
	}
	if isUndefined(b) {
		s.undefined(b)
	}
	switch op {
	case "<":
		return s.less(a, b)
	case ">":
		return s.less(b, a)
	case "<=":
		return s.less(a, b) || s.equal(a, b)
	}
	return s.less(b, a) || s.equal(a, b)
}

func (s *state) undefined(v any) { s.fail("%s", "there is no "+v.(undefined).name) }

func (n *binExpr) eval(s *state) any {
	a, b := n.a.eval(s), n.b.eval(s)
	s.step(1)
	if isUndefined(a) {
		s.undefined(a)
	}
	if isUndefined(b) {
		s.undefined(b)
	}
	if safe(a, b) && n.op == "+" {
		return markup(s.escaped(a) + s.escaped(b))
	}
	a, b = bare(a), bare(b)
	ai, af, aIsFloat, aok := number(a)
	bi, bf, bIsFloat, bok := number(b)
	switch {
	case aok && bok && (aIsFloat || bIsFloat || n.op == "/" || n.op == "**" && bi < 0):
		return s.floats(n.op, af, bf)
	case aok && bok:
		return s.ints(n.op, ai, bi)
	}
	switch x := a.(type) {
	case string:
		switch y, ok := b.(string); {
		case n.op == "+" && ok:
			s.made(len(x) + len(y))
			return x + y
		case n.op == "*" && bok && !bIsFloat:
			return s.repeat(x, bi)
		case n.op == "%":
			return s.percent(x, b)
		}
	case *List:
		switch y, ok := b.(*List); {
		case n.op == "+" && ok && x.Tuple == y.Tuple:
			s.made(16 * (len(x.Items) + len(y.Items)))
			return &List{Items: append(append(make([]any, 0, len(x.Items)+len(y.Items)), x.Items...), y.Items...), Tuple: x.Tuple}
		case n.op == "*" && bok && !bIsFloat:
			out := &List{Tuple: x.Tuple}
			for range bi {
				s.made(16 * len(x.Items))
				s.step(1)
				out.Items = append(out.Items, x.Items...)
			}
			return out
		}
	}
	if y, ok := b.(string); ok && n.op == "*" && aok && !aIsFloat {
		return s.repeat(y, ai)
	}
	s.fail("%s %s %s is not defined", typeName(a), n.op, typeName(b))
	return nil
}

// safe tells whether one of two texts is safe, so that the other is escaped.
func safe(a, b any) bool {
	_, am := a.(markup)
	_, bm := b.(markup)
	_, as := bare(a).(string)
	_, bs := bare(b).(string)
	return (am || bm) && as && bs
}

// escaped is a text that stands beside a safe one.
func (s *state) escaped(v any) string {
	text := s.str(v)
	if _, ok := v.(markup); !ok {
		text = htmlEscapes().Replace(text)
	}
	s.made(len(text))
	return text
}

func (s *state) repeat(text string, n int64) string {
	if n <= 0 || text == "" {
		return ""
	}
	if n > int64(s.limits.Bytes/len(text)) {
		s.limit("bytes", s.limits.Bytes)
	}
	s.made(len(text) * int(n))
	return strings.Repeat(text, int(n))
}

func (s *state) floats(op string, a, b float64) any {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return float64(a * b)
	case "**":
		return math.Pow(a, b)
	}
	if b == 0 {
		s.fail("division by zero")
	}
	switch op {
	case "/":
		return a / b
	case "//":
		return math.Floor(a / b)
	}
	m := math.Mod(a, b)
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

func (s *state) ints(op string, a, b int64) any {
	var v int64
	over := false
	switch op {
	case "+":
		v = a + b
		over = (v > a) != (b > 0)
	case "-":
		v = a - b
		over = (v < a) != (b > 0)
	case "*":
		v = a * b
		over = a != 0 && (v/a != b || a == -1 && b == math.MinInt64)
	case "**":
		v = 1
		for range b {
			s.step(1)
			next := v * a
			if v != 0 && a != 0 && next/a != v {
				over = true
				break
			}
			v = next
		}
	default:
		if b == 0 {
			s.fail("division by zero")
		}
		if b == -1 {
			if op == "//" {
				return s.ints("-", 0, a)
			}
			return int64(0)
		}
		q, m := a/b, a%b
		if m != 0 && (m < 0) != (b < 0) {
			q, m = q-1, m+b
		}
		if op == "//" {
			return q
		}
		return m
	}
	if over && b != 0 {
		s.fail("a number beyond 64 bits")
	}
	return v
}

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
