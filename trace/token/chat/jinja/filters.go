package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// filter is what stands after "|".
type filter func(s *state, v any, a args) any

// filters returns a filter by name.
func filters(name string) (filter, bool) {
	for _, group := range []func(string) filter{textFilter, listFilter, numberFilter} {
		if f := group(name); f != nil {
			return f, true
		}
	}
	return nil, false
}

// mapped makes a filter of a function of strings.
func mapped(f func(string) string) filter {
	return func(s *state, v any, _ args) any {
		out := f(s.str(v))
		s.made(len(out))
		return out
	}
}

func textFilter(name string) filter {
	switch name {
	case "trim":
		return func(s *state, v any, a args) any { return strip(s, s.str(v), a, true, true) }
	case "upper":
		return mapped(upper)
	case "lower":
		return mapped(lower)
	case "capitalize":
		return mapped(capitalize)
	case "title":
		return mapped(jinjaTitle)
	case "string":
		return mapped(func(v string) string { return v })
	case "safe":
		return func(s *state, v any, _ args) any { return markup(s.str(v)) }
	case "e", "escape":
		return func(s *state, v any, _ args) any { return markup(s.escaped(v)) }
	case "forceescape":
		return func(s *state, v any, _ args) any { return markup(s.escaped(s.str(v))) }
	case "replace":
		return func(s *state, v any, a args) any {
			most := int64(-1)
			if c, ok := a.take(2, "count"); ok && c != nil {
				most = s.integer(c)
			}
			old, _ := a.take(0, "old")
			with, _ := a.take(1, "new")
			return replace(s, s.str(v), s.str(old), s.str(with), most)
		}
	case "indent":
		return indent
	case "tojson":
		return tojson
	case "format":
		return func(s *state, v any, a args) any {
			if len(a.names) > 0 {
				return s.percent(s.str(v), newDict(s, args{names: a.names, named: a.named}))
			}
			return s.percent(s.str(v), &List{Items: a.list, Tuple: true})
		}
	case "wordcount":
		return func(s *state, v any, _ args) any { return int64(len(strings.Fields(s.str(v)))) }
	case "center":
		return func(s *state, v any, a args) any {
			return justify(s, "center", s.str(v), args{list: []any{a.int(s, 0, "width", 80)}})
		}
	}
	return nil
}

// htmlEscapes are those of markupsafe.
func htmlEscapes() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")
}

// jinjaTitle makes the first letter of each word large and the others small;
// words end at blanks, hyphens and opening brackets.
func jinjaTitle(v string) string {
	first := true
	return strings.Map(func(r rune) rune {
		now := first
		first = unicode.IsSpace(r) || strings.ContainsRune("-({[<", r)
		if now {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, v)
}

// indent indents all lines but the first, and empty ones not.
func indent(s *state, v any, a args) any {
	pad := "    "
	switch w, _ := a.take(0, "width"); x := w.(type) {
	case string:
		pad = x
	case int64:
		pad = s.repeat(" ", x)
	}
	first, blank := a.bool(1, "first", false), a.bool(2, "blank", false)
	lines := splitLines(s, s.str(v)+"\n", args{}).(*List).Items
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if text := line.(string); i == 0 && first || i > 0 && (blank || text != "") {
			b.WriteString(pad)
		}
		b.WriteString(line.(string))
		s.room(b.Len() + len(pad))
	}
	s.made(b.Len())
	return b.String()
}

func listFilter(name string) filter {
	switch name {
	case "length", "count":
		return func(s *state, v any, _ args) any { return int64(s.length(v)) }
	case "first", "last":
		return func(s *state, v any, _ args) any {
			items := s.iterate(v)
			if len(items) == 0 {
				return undefined{name + " item"}
			}
			if name == "first" {
				return items[0]
			}
			return items[len(items)-1]
		}
	case "list":
		return func(s *state, v any, _ args) any { return s.list(s.iterate(v)) }
	case "items":
		return func(s *state, v any, _ args) any {
			d, ok := v.(*Dict)
			if isUndefined(v) {
				return &List{once: true}
			}
			if !ok {
				s.fail("items of %s", typeName(v))
			}
			return dictItems(s, d)
		}
	case "join":
		return func(s *state, v any, a args) any {
			items := s.iterate(v)
			if attr, ok := a.take(1, "attribute"); ok {
				items = s.attributes(items, attr, nil)
			}
			return join(s, items, a.text(s, 0, "d", ""), false)
		}
	case "reverse":
		return reverse
	case "sort":
		return sorted
	case "dictsort":
		return dictSort
	case "unique":
		return unique
	case "map":
		return mapFilter
	case "select", "reject":
		return func(s *state, v any, a args) any {
			return s.choose(v, name == "select", func(x any) any { return x }, a)
		}
	case "selectattr", "rejectattr":
		return func(s *state, v any, a args) any {
			attr := s.arg(a)
			return s.choose(v, name == "selectattr", func(x any) any { return s.path(x, attr) }, a.after(1))
		}
	case "attr":
		return func(s *state, v any, a args) any { return s.attr(v, a.text(s, 0, "name", "")) }
	}
	return nil
}

func (s *state) list(items []any) *List {
	s.made(16 * len(items))
	return &List{Items: slices.Clone(items)}
}

// join joins the text of values; with strict they must be strings, as for
// Python's str.join.
func join(s *state, items []any, mark string, strict bool) any {
	parts := make([]string, len(items))
	size := len(mark) * max(len(items)-1, 0)
	for i, v := range items {
		if _, ok := bare(v).(string); strict && !ok {
			s.fail("%s is joined as a string", typeName(v))
		}
		parts[i] = s.str(v)
		size += len(parts[i])
		s.room(size)
	}
	s.made(size)
	return strings.Join(parts, mark)
}

func reverse(s *state, v any, _ args) any {
	items := slices.Clone(s.iterate(v))
	slices.Reverse(items)
	if _, ok := v.(string); ok {
		return join(s, items, "", true)
	}
	return &List{Items: items, once: true}
}

func (s *state) cmp(a, b any) int {
	switch {
	case s.less(a, b):
		return -1
	case s.less(b, a):
		return 1
	}
	return 0
}

// fold makes strings alike that differ in case, where case does not count.
func fold(v any, caseCounts bool) any {
	if t, ok := bare(v).(string); ok && !caseCounts {
		return lower(t)
	}
	return v
}

func (s *state) sortBy(items []any, down bool, by func(any) any) *List {
	out := s.list(items)
	slices.SortStableFunc(out.Items, func(a, b any) int {
		if down {
			a, b = b, a
		}
		return s.cmp(by(a), by(b))
	})
	return out
}

func sorted(s *state, v any, a args) any {
	counts := a.bool(1, "case_sensitive", false)
	attr, has := a.take(2, "attribute")
	return s.sortBy(s.iterate(v), a.bool(0, "reverse", false), func(x any) any {
		if has && attr != nil {
			x = s.path(x, attr)
		}
		return fold(x, counts)
	})
}

func dictSort(s *state, v any, a args) any {
	d, ok := v.(*Dict)
	if !ok {
		s.fail("dictsort of %s", typeName(v))
	}
	counts, by := a.bool(0, "case_sensitive", false), 0
	if a.text(s, 1, "by", "key") == "value" {
		by = 1
	}
	return s.sortBy(dictItems(s, d).(*List).Items, a.bool(2, "reverse", false), func(x any) any {
		return fold(x.(*List).Items[by], counts)
	})
}

func unique(s *state, v any, a args) any {
	counts := a.bool(0, "case_sensitive", false)
	seen := map[any]bool{}
	var out, odd []any
	for _, x := range s.iterate(v) {
		k, ok := key(fold(x, counts))
		switch {
		case ok && seen[k], !ok && s.contains(&List{Items: odd}, x):
			continue
		case ok:
			seen[k] = true
		default:
			odd = append(odd, x)
		}
		out = append(out, x)
	}
	s.made(16 * len(out))
	return &List{Items: out, once: true}
}

// path is an attribute of items: a name, an index, or several by dots.
func (s *state) path(x, attr any) any {
	name, ok := attr.(string)
	if !ok {
		return s.item(x, attr)
	}
	for part := range strings.SplitSeq(name, ".") {
		if isUndefined(x) {
			return x
		}
		if i, err := strconv.ParseInt(part, 10, 64); err == nil {
			x = s.item(x, i)
			continue
		}
		x = s.item(x, part)
	}
	return x
}

func (s *state) attributes(items []any, attr, def any) []any {
	s.made(16 * len(items))
	out := make([]any, len(items))
	for i, x := range items {
		if out[i] = s.path(x, attr); isUndefined(out[i]) && def != nil {
			out[i] = def
		}
	}
	return out
}

func mapFilter(s *state, v any, a args) any {
	if !truth(v) {
		return &List{once: true}
	}
	items := s.iterate(v)
	if attr, ok := a.take(-1, "attribute"); ok {
		def, _ := a.take(-1, "default")
		return &List{Items: s.attributes(items, attr, def), once: true}
	}
	f, ok := filters(a.text(s, 0, "filter", ""))
	if !ok {
		s.fail("map by a filter that is not supported")
	}
	s.made(16 * len(items))
	out := make([]any, len(items))
	for i, x := range items {
		s.step(1)
		out[i] = f(s, x, a.after(1))
	}
	return &List{Items: out, once: true}
}

// choose keeps or drops the items whose value passes a test, or is true.
func (s *state) choose(v any, keep bool, of func(any) any, a args) any {
	t := test(func(_ *state, x any, _ args) bool { return truth(x) })
	if len(a.list) > 0 {
		var ok bool
		if t, ok = tests(a.text(s, 0, "test", "")); !ok {
			s.fail("select by a test that is not supported")
		}
	}
	if !truth(v) {
		return &List{once: true}
	}
	var out []any
	for _, x := range s.iterate(v) {
		s.step(1)
		if t(s, of(x), a.after(1)) == keep {
			out = append(out, x)
		}
	}
	s.made(16 * len(out))
	return &List{Items: out, once: true}
}

func numberFilter(name string) filter {
	switch name {
	case "default", "d":
		return func(s *state, v any, a args) any {
			if isUndefined(v) || a.bool(1, "boolean", false) && !truth(v) {
				if def, ok := a.take(0, "default_value"); ok {
					return def
				}
				return ""
			}
			return v
		}
	case "abs":
		return func(s *state, v any, _ args) any {
			i, f, float, ok := number(v)
			if !ok {
				s.fail("abs of %s", typeName(v))
			}
			if float {
				return math.Abs(f)
			}
			return max(i, -i)
		}
	case "int":
		return toInt
	case "float":
		return func(s *state, v any, a args) any {
			def, _ := a.take(0, "default")
			if _, f, _, ok := number(v); ok {
				return f
			}
			if t, ok := v.(string); ok {
				if f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(t), "_", ""), 64); err == nil {
					return f
				}
			}
			if def == nil {
				return 0.0
			}
			return def
		}
	case "round":
		return round
	case "sum":
		return func(s *state, v any, a args) any {
			items := s.iterate(v)
			if attr, ok := a.take(0, "attribute"); ok && attr != nil {
				items = s.attributes(items, attr, nil)
			}
			total := any(a.int(s, 1, "start", 0))
			for _, x := range items {
				total = (&binExpr{"+", &constant{total}, &constant{x}}).eval(s)
			}
			return total
		}
	case "max", "min":
		return func(s *state, v any, a args) any {
			counts := a.bool(0, "case_sensitive", false)
			attr, has := a.take(1, "attribute")
			items := s.sortBy(s.iterate(v), name == "max", func(x any) any {
				if has && attr != nil {
					x = s.path(x, attr)
				}
				return fold(x, counts)
			}).Items
			if len(items) == 0 {
				return undefined{name + " of nothing"}
			}
			return items[0]
		}
	}
	return nil
}

func toInt(s *state, v any, a args) any {
	def, ok := a.take(0, "default")
	if !ok {
		def = int64(0)
	}
	i, f, float, isNumber := number(v)
	switch {
	case isNumber && !float:
		return i
	case isNumber && math.Abs(f) < 1<<62:
		return int64(f)
	}
	if t, ok := bare(v).(string); ok {
		t = strings.ReplaceAll(strings.TrimSpace(t), "_", "")
		base := int(a.int(s, 1, "base", 10))
		if base < 0 || base == 1 || base > 36 {
			s.fail("int of base %d", base)
		}
		if i, err := strconv.ParseInt(t, base, 64); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(t, 64); err == nil && math.Abs(f) < 1<<62 {
			return int64(f)
		}
	}
	return def
}

func round(s *state, v any, a args) any {
	_, f, _, ok := number(v)
	if !ok {
		s.fail("round of %s", typeName(v))
	}
	p := math.Pow(10, float64(a.int(s, 0, "precision", 0)))
	switch a.text(s, 1, "method", "common") {
	case "ceil":
		return math.Ceil(float64(f*p)) / p
	case "floor":
		return math.Floor(float64(f*p)) / p
	}
	if p >= 1 && p <= 1e15 { // Python rounds the decimal digits, half to even
		n := len(strconv.FormatFloat(p, 'f', 0, 64)) - 1
		r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		if err == nil {
			return r
		}
	}
	return math.RoundToEven(float64(f*p)) / p
}
