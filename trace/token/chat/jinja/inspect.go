package jinja

// Each calls f for every key and value in order.
func (d *Dict) Each(f func(k, v any)) {
	for i, k := range d.keys {
		f(k, d.values[i])
	}
}

// Size is about how many bytes a value's text has.
func Size(v any) int {
	switch x := v.(type) {
	case string:
		return len(x)
	case *List:
		if x == nil {
			return 0
		}
		n := 8
		for _, item := range x.Items {
			n += Size(item)
		}
		return n
	case *Dict:
		n := 8
		for i, k := range x.keys {
			n += Size(k) + Size(x.values[i])
		}
		return n
	}
	return 8
}

// LoopsOver tells whether the template goes through the items of an attribute
// of that name: message.content, message['content'], or a variable that is set
// to one.
func (t *Template) LoopsOver(attr string) bool {
	l := &lookup{attr: attr, names: map[string]bool{}}
	l.body(t.body) // collects variables
	return l.found || l.body(t.body)
}

// lookup walks statements.
type lookup struct {
	attr  string
	names map[string]bool // variables that hold the attribute
	found bool
}

func (l *lookup) body(body []node) bool {
	for _, n := range body {
		l.statement(n)
	}
	return l.found
}

func (l *lookup) statement(n node) {
	switch x := n.(type) {
	case *ifNode:
		for _, b := range x.then {
			l.body(b)
		}
		l.body(x.other)
	case *forNode:
		l.found = l.found || l.holds(x.over)
		l.body(x.body)
		l.body(x.other)
	case *setNode:
		if x.target.name != "" && l.holds(x.x) {
			l.names[x.target.name] = true
		}
	case *setBlockNode:
		l.body(x.body)
	case *macroNode:
		if len(x.params) > 0 && x.params[0] == l.attr {
			l.names[l.attr] = true
		}
		l.body(x.body)
	case *callNode:
		l.body(x.macro.body)
	case *filterNode:
		l.body(x.body)
	case *withNode:
		l.body(x.body)
	case *bodyNode:
		l.body(x.body)
	}
}

// holds tells whether an expression is the attribute, or a part of it.
func (l *lookup) holds(x expr) bool {
	switch e := x.(type) {
	case *nameExpr:
		return l.names[e.name]
	case *attrExpr:
		return e.name == l.attr
	case *itemExpr:
		c, ok := e.key.(*constant)
		return ok && c.v == l.attr
	case *filterExpr:
		return l.holds(e.x)
	case *condExpr:
		return l.holds(e.yes) || e.no != nil && l.holds(e.no)
	case *sliceExpr:
		return l.holds(e.x)
	}
	return false
}
