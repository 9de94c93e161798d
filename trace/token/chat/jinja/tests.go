package jinja

// test is what stands after "is".
type test func(s *state, v any, a args) bool

// tests returns a test by name.
func tests(name string) (test, bool) {
	switch name {
	case "defined":
		return func(_ *state, v any, _ args) bool { return !isUndefined(v) }, true
	case "undefined":
		return func(_ *state, v any, _ args) bool { return isUndefined(v) }, true
	case "none":
		return func(_ *state, v any, _ args) bool { return v == nil }, true
	case "boolean":
		return func(_ *state, v any, _ args) bool { _, ok := v.(bool); return ok }, true
	case "true":
		return func(_ *state, v any, _ args) bool { return v == true }, true
	case "false":
		return func(_ *state, v any, _ args) bool { return v == false }, true
	case "string":
		return func(_ *state, v any, _ args) bool { _, ok := bare(v).(string); return ok }, true
	case "integer":
		return func(_ *state, v any, _ args) bool { _, ok := v.(int64); return ok }, true
	case "float":
		return func(_ *state, v any, _ args) bool { _, ok := v.(float64); return ok }, true
	case "number":
		return func(_ *state, v any, _ args) bool { _, _, _, ok := number(v); return ok }, true
	case "mapping":
		return func(_ *state, v any, _ args) bool { _, ok := v.(*Dict); return ok }, true
	case "iterable":
		return func(_ *state, v any, _ args) bool { return isSequence(v) }, true
	case "sequence":
		return func(_ *state, v any, _ args) bool {
			l, ok := v.(*List)
			return isSequence(v) && (!ok || !l.once)
		}, true
	case "callable":
		return func(_ *state, v any, _ args) bool { _, ok := v.(callable); return ok }, true
	case "lower":
		return func(s *state, v any, _ args) bool { return cased(s.str(v), lower) }, true
	case "upper":
		return func(s *state, v any, _ args) bool { return cased(s.str(v), upper) }, true
	case "odd", "even":
		return func(s *state, v any, _ args) bool { return s.ints("%", s.integer(v), 2) == int64(len(name)&1) }, true
	case "divisibleby":
		return func(s *state, v any, a args) bool {
			return s.ints("%", s.integer(v), a.int(s, 0, "num", 1)) == int64(0)
		}, true
	case "in":
		return func(s *state, v any, a args) bool { return s.contains(s.arg(a), v) }, true
	case "sameas":
		return func(s *state, v any, a args) bool { return typeName(v) == typeName(s.arg(a)) && s.equal(v, s.arg(a)) }, true
	case "filter", "test":
		return func(s *state, v any, _ args) bool {
			_, isFilter := filters(s.str(v))
			_, isTest := tests(s.str(v))
			return name == "filter" && isFilter || name == "test" && isTest
		}, true
	}
	ops := map[string]string{"eq": "==", "equalto": "==", "==": "==", "ne": "!=", "!=": "!=", "lt": "<", "lessthan": "<", "<": "<",
		"le": "<=", "<=": "<=", "gt": ">", "greaterthan": ">", ">": ">", "ge": ">=", ">=": ">="}
	if op, ok := ops[name]; ok {
		return func(s *state, v any, a args) bool { return s.compare(op, v, s.arg(a)) }, true
	}
	return nil, false
}

func (s *state) arg(a args) any {
	if len(a.list) == 0 {
		s.fail("a test lacks its argument")
	}
	return a.list[0]
}

func (s *state) integer(v any) int64 {
	i, _, float, ok := number(v)
	if !ok || float {
		s.fail("%s is no integer", typeName(v))
	}
	return i
}

func isSequence(v any) bool {
	switch v.(type) {
	case undefined, string, markup, *List, *Dict:
		return true
	}
	return false
}

// cased is Python's islower and isupper: there are letters with case, and all
// have it.
func cased(text string, to func(string) string) bool {
	return to(text) == text && lower(text) != upper(text)
}
