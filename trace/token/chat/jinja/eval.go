package jinja

import (
	"math"
	"strings"
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
