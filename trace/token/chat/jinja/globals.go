package jinja

// maxRange is Jinja's MAX_RANGE of the sandbox.
const maxRange = 100_000

// global returns a function that every template has.
func global(name string) any {
	switch name {
	case "range":
		return callable(rangeOf)
	case "namespace":
		return callable(newNamespace)
	case "dict":
		return callable(func(s *state, a args) any { return newDict(s, a) })
	case "raise_exception":
		return callable(func(s *state, a args) any {
			v, _ := a.take(0, "message")
			panic(&Error{Line: s.line, What: s.str(v), Raised: true})
		})
	case "strftime_now":
		return callable(func(s *state, a args) any { return s.strftime(a.text(s, 0, "format", "")) })
	}
	return nil
}

func rangeOf(s *state, a args) any {
	from, to, step := int64(0), a.int(s, 0, "stop", 0), int64(1)
	if len(a.list) > 1 {
		from, to, step = to, a.int(s, 1, "stop", 0), a.int(s, 2, "step", 1)
	}
	if len(a.list) == 0 || step == 0 {
		s.fail("range wants an end, and a step other than 0")
	}
	var n int64
	if step > 0 && from < to {
		n = int64((uint64(to)-uint64(from)-1)/uint64(step)) + 1
	} else if step < 0 && from > to {
		n = int64((uint64(from)-uint64(to)-1)/(-uint64(step))) + 1
	}
	if n > maxRange || n < 0 {
		s.fail("a range of more than %d numbers", maxRange)
	}
	s.made(int(16 * n))
	s.step(int(n))
	items := make([]any, n)
	for i := range items {
		items[i] = from + int64(i)*step
	}
	return &List{Items: items}
}

func newDict(s *state, a args) *Dict {
	d := &Dict{}
	for _, v := range a.list {
		switch from := v.(type) {
		case *Dict:
			for i, k := range from.keys {
				d.Set(k, from.values[i])
			}
		default:
			for _, item := range s.iterate(v) {
				pair := s.iterate(item)
				if len(pair) != 2 {
					s.fail("dict wants pairs")
				}
				if _, ok := key(pair[0]); !ok {
					s.fail("%s cannot be a key", typeName(pair[0]))
				}
				d.Set(pair[0], pair[1])
			}
		}
	}
	for i, name := range a.names {
		d.Set(name, a.named[i])
	}
	s.made(64 * len(d.keys))
	return d
}

func newNamespace(s *state, a args) any { return &namespace{vars: *newDict(s, a)} }

// attr is an attribute of the loop variable.
func (l *loop) attr(s *state, name string) any {
	n := int64(len(l.items))
	i := int64(l.at)
	switch name {
	case "index":
		return i + 1
	case "index0":
		return i
	case "revindex":
		return n - i
	case "revindex0":
		return n - i - 1
	case "first":
		return i == 0
	case "last":
		return i == n-1
	case "length":
		return n
	case "depth":
		return int64(l.depth + 1)
	case "depth0":
		return int64(l.depth)
	case "previtem":
		if i > 0 {
			return l.items[i-1]
		}
		return undefined{"previous item"}
	case "nextitem":
		if i < n-1 {
			return l.items[i+1]
		}
		return undefined{"next item"}
	case "cycle":
		return callable(func(s *state, a args) any {
			if len(a.list) == 0 {
				s.fail("cycle wants values")
			}
			return a.list[l.at%len(a.list)]
		})
	case "changed":
		return callable(func(s *state, a args) any {
			same := l.last != nil && s.equal(&List{Items: l.last}, &List{Items: a.list})
			l.last = a.list
			return !same
		})
	}
	return undefined{"attribute " + name}
}
