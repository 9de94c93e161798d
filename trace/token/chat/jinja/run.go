package jinja

func (n *textNode) run(s *state) flow {
	s.write(n.text)
	return flowOn
}

func (n *outputNode) run(s *state) flow {
	s.line = n.line
	s.write(s.str(n.x.eval(s)))
	return flowOn
}

func (n *ifNode) run(s *state) flow {
	for i, test := range n.tests {
		if truth(test.eval(s)) {
			return s.run(n.then[i])
		}
	}
	return s.run(n.other)
}

// loop is the variable of a for statement.
type loop struct {
	items []any
	at    int
	depth int
	last  []any // what changed() saw
	again callable
}

func (n *forNode) run(s *state) flow {
	depth := 0
	if outer, ok := s.scope.get("loop"); ok && n.recursive {
		if l, ok := outer.(*loop); ok && l.again != nil {
			depth = l.depth
		}
	}
	return n.rounds(s, n.over.eval(s), depth)
}

// rounds runs the body over the values of v.
func (n *forNode) rounds(s *state, v any, depth int) flow {
	items := s.iterate(v)
	if n.only != nil {
		items = n.chosen(s, items)
	}
	if len(items) == 0 {
		return s.inner(&scope{parent: s.scope}, n.other)
	}
	l := &loop{items: items, depth: depth}
	if n.recursive {
		l.again = func(s *state, a args) any {
			defer s.deeper()()
			if len(a.list) != 1 {
				s.fail("loop() takes one value")
			}
			return s.capture(func() { n.rounds(s, a.list[0], depth+1) })
		}
	}
	for i, item := range items {
		s.step(1)
		l.at = i
		sc := &scope{parent: s.scope}
		s.assign(sc, &n.target, item)
		sc.set("loop", l)
		if s.inner(sc, n.body) == flowBreak {
			break
		}
	}
	return flowOn
}

// chosen returns the items for which the loop's condition holds.
func (n *forNode) chosen(s *state, items []any) []any {
	var out []any
	outer := s.scope
	for _, item := range items {
		s.step(1)
		s.scope = &scope{parent: outer}
		s.assign(s.scope, &n.target, item)
		if truth(n.only.eval(s)) {
			out = append(out, item)
		}
	}
	s.scope = outer
	return out
}

// assign sets a target in a scope.
func (s *state) assign(sc *scope, t *target, v any) {
	switch {
	case t.items != nil:
		items := s.iterate(v)
		if len(items) != len(t.items) {
			s.fail("%d values are assigned to %d names", len(items), len(t.items))
		}
		for i := range t.items {
			s.assign(sc, &t.items[i], items[i])
		}
	case t.attr != "":
		ns, _ := s.scope.get(t.name)
		n, ok := ns.(*namespace)
		if !ok {
			s.fail("cannot assign an attribute of what is no namespace")
		}
		n.vars.Set(t.attr, v)
	default:
		sc.set(t.name, v)
	}
}

func (n *setNode) run(s *state) flow {
	s.assign(s.scope, &n.target, n.x.eval(s))
	return flowOn
}

func (n *setBlockNode) run(s *state) flow {
	text := s.capture(func() { s.inner(&scope{parent: s.scope}, n.body) })
	var v any = text
	if n.filter != nil {
		s.pipe = text
		v = n.filter.eval(s)
	}
	s.assign(s.scope, &n.target, v)
	return flowOn
}

func (n *filterNode) run(s *state) flow {
	s.pipe = s.capture(func() { s.inner(&scope{parent: s.scope}, n.body) })
	s.write(s.str(n.filter.eval(s)))
	return flowOn
}

func (piped) eval(s *state) any { return s.pipe }

func (n *withNode) run(s *state) flow {
	sc := &scope{parent: s.scope}
	for i := range n.targets {
		s.assign(sc, &n.targets[i], n.values[i].eval(s))
	}
	return s.inner(sc, n.body)
}

func (n *bodyNode) run(s *state) flow { return s.inner(&scope{parent: s.scope}, n.body) }

func (n *doNode) run(s *state) flow {
	n.x.eval(s)
	return flowOn
}

func (breakNode) run(*state) flow { return flowBreak }
func (contNode) run(*state) flow  { return flowContinue }

func (n *macroNode) run(s *state) flow {
	s.scope.set(n.name, n.bind(s.scope))
	return flowOn
}

func (n *callNode) run(s *state) flow {
	a := s.args(&n.call.args)
	a.names, a.named = append(a.names, "caller"), append(a.named, any(n.macro.bind(s.scope)))
	s.line = n.call.line
	s.write(s.str(s.call(n.call.fn.eval(s), a)))
	return flowOn
}

// bind makes a function of a macro that sees the scope where it stands.
func (n *macroNode) bind(outer *scope) callable {
	return func(s *state, a args) any {
		defer s.deeper()()
		sc := &scope{parent: outer}
		n.fill(s, sc, a)
		return s.capture(func() { s.inner(sc, n.body) })
	}
}

// fill gives the parameters their values.
func (n *macroNode) fill(s *state, sc *scope, a args) {
	var extra []any
	kwargs := &Dict{}
	for i, v := range a.list {
		if i >= len(n.params) {
			extra = a.list[i:]
			break
		}
		sc.set(n.params[i], v)
	}
	given := len(sc.names)
	for i, name := range a.names {
		at := -1
		for j, p := range n.params {
			if p == name {
				at = j
			}
		}
		switch {
		case at >= 0 && at < given:
			s.fail("macro %s gets %s twice", n.name, name)
		case at >= 0 || name == "caller":
			sc.set(name, a.named[i])
		default:
			kwargs.Set(name, a.named[i])
		}
	}
	first := len(n.params) - len(n.defaults)
	for i, p := range n.params {
		if _, ok := (&scope{names: sc.names, values: sc.values}).get(p); ok {
			continue
		}
		var v any = undefined{p}
		if i >= first {
			outer := s.scope
			s.scope = sc
			v = n.defaults[i-first].eval(s)
			s.scope = outer
		}
		sc.set(p, v)
	}
	sc.set("varargs", &List{Items: extra, Tuple: true})
	sc.set("kwargs", kwargs)
}
