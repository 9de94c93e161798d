package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dumper writes JSON as Python's json.dumps does.
type dumper struct {
	s         *state
	b         strings.Builder
	ascii     bool
	indent    string // of one level; with newlines where lines is true
	lines     bool
	item, sep string
	sort      bool
}

// tojson is the filter as transformers defines it: json.dumps without the
// escapes for HTML, and non-ASCII left as it is.
func tojson(s *state, v any, a args) any {
	d := &dumper{s: s, item: ", ", sep: ": ", ascii: a.bool(0, "ensure_ascii", false), sort: a.bool(3, "sort_keys", false)}
	if in, ok := a.take(1, "indent"); ok && in != nil {
		d.lines, d.item = true, ","
		switch x := in.(type) {
		case string:
			d.indent = x
		default:
			d.indent = s.repeat(" ", a.int(s, 1, "indent", 0))
		}
	}
	if seps, ok := a.take(2, "separators"); ok && seps != nil {
		pair := s.iterate(seps)
		if len(pair) != 2 {
			s.fail("separators wants two strings")
		}
		d.item, d.sep = s.str(pair[0]), s.str(pair[1])
	}
	d.value(v, 0)
	s.made(d.b.Len())
	return d.b.String()
}

func (d *dumper) value(v any, level int) {
	defer d.s.deeper()()
	d.s.step(1)
	d.s.room(d.b.Len())
	switch x := bare(v).(type) {
	case nil:
		d.b.WriteString("null")
	case bool:
		d.b.WriteString(strconv.FormatBool(x))
	case int64:
		d.b.WriteString(strconv.FormatInt(x, 10))
	case float64:
		d.b.WriteString(jsonFloat(x))
	case string:
		d.string(x)
	case *List:
		if x.once {
			d.s.fail("%s has no JSON", typeName(v))
		}
		d.b.WriteByte('[')
		for i, item := range x.Items {
			d.before(i, level+1)
			d.value(item, level+1)
		}
		d.after(len(x.Items), level)
		d.b.WriteByte(']')
	case *Dict:
		d.b.WriteByte('{')
		for i, at := range d.order(x) {
			d.before(i, level+1)
			d.key(x.keys[at])
			d.b.WriteString(d.sep)
			d.value(x.values[at], level+1)
		}
		d.after(len(x.keys), level)
		d.b.WriteByte('}')
	default:
		d.s.fail("%s has no JSON", typeName(v))
	}
}

func (d *dumper) order(x *Dict) []int {
	order := make([]int, len(x.keys))
	for i := range order {
		order[i] = i
	}
	if d.sort {
		slices.SortStableFunc(order, func(a, b int) int { return d.s.cmp(x.keys[a], x.keys[b]) })
	}
	return order
}

func (d *dumper) key(k any) {
	switch x := bare(k).(type) {
	case string:
		d.string(x)
	default:
		d.b.WriteByte('"')
		d.value(x, 0)
		d.b.WriteByte('"')
	}
}

func (d *dumper) before(i, level int) {
	if i > 0 {
		d.b.WriteString(d.item)
	}
	d.line(level)
}

func (d *dumper) after(n, level int) {
	if n > 0 {
		d.line(level)
	}
}

func (d *dumper) line(level int) {
	if !d.lines {
		return
	}
	d.s.room(d.b.Len() + len(d.indent)*level)
	d.b.WriteByte('\n')
	for range level {
		d.b.WriteString(d.indent)
	}
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return pythonFloat(f)
}

const hexDigits = "0123456789abcdef"

func (d *dumper) string(v string) {
	d.b.WriteByte('"')
	from := 0
	for i := 0; i < len(v); {
		c := v[i]
		size := 1
		if c >= utf8.RuneSelf && d.ascii {
			_, size = utf8.DecodeRuneInString(v[i:])
		} else if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		d.b.WriteString(v[from:i])
		d.escape(v[i : i+size])
		i += size
		from = i
	}
	d.b.WriteString(v[from:])
	d.b.WriteByte('"')
}

func (d *dumper) escape(c string) {
	if at := strings.IndexByte("\"\\\n\r\t\b\f", c[0]); at >= 0 {
		d.b.WriteByte('\\')
		d.b.WriteByte(`"\nrtbf`[at])
		return
	}
	r, _ := utf8.DecodeRuneInString(c)
	hex := func(v rune) {
		d.b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			d.b.WriteByte(hexDigits[v>>shift&15])
		}
	}
	if r >= 0x10000 {
		r -= 0x10000
		hex(0xd800 + r>>10)
		r = 0xdc00 + r&0x3ff
	}
	hex(r)
}
