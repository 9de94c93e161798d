package ingest

import (
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/rows"
)

// reading is a mapping made ready for rows: a plan for the row and one for each
// level that it is exploded to, with the slots of fields and tests in them. One
// reader uses it at a time.
type reading struct {
	mapping *Mapping
	levels  []*rows.Plan // from the row inwards
	cols    [numFields][]planColumn
	rules   []planRule
	has     filled
	visit   func(level int, v *fastjson.Value) // sees the elements of lists; nil for nobody
}

// filled are the parts of a record that a mapping has anything for.
type filled struct{ names, prompt, answer, spans, limits, features, ending, blocks bool }

func (r *reading) filled() filled {
	any := func(fields ...Field) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return len(r.cols[f]) > 0 })
	}
	m := r.mapping
	return filled{names: any(nameFields()...), prompt: any(FieldAPI, FieldMessages, FieldPrompt, FieldSystem), answer: any(FieldOutput),
		spans:    any(FieldFirstToken, FieldEnd, FieldTTFT, FieldDuration),
		limits:   any(FieldMediaTokens, FieldMaxTokens, FieldN, FieldAttempt),
		features: any(FieldStream, FieldProxyCache, FieldTools, FieldJSONSchema) || m.earlyStream || m.Complete,
		ending:   any(FieldFinish, FieldStatus, FieldError), blocks: any(FieldBlocks)}
}

func nameFields() []Field {
	return []Field{FieldRequestID, FieldParent, FieldSession, FieldClient, FieldModel, FieldAdapter, FieldRetryOf, FieldSpan, FieldParentSpan}
}

// ref is where a value lies: a slot of a level's plan.
type ref struct{ level, slot int }

type planColumn struct {
	at     ref
	unit   string
	col    *Column
	when   *planTest
	simple bool       // no more than a path and a unit
	above  *rows.Node // what the column is a part of, where the user named it
}

type planRule struct {
	why  Rule
	keep bool
	when planTest
}

// planTest is a test with its slots.
type planTest struct {
	of       *test
	at       ref
	any, all []planTest
}

func newReading(m *Mapping) *reading {
	r := &reading{mapping: m}
	for range len(m.explode) + 1 {
		r.levels = append(r.levels, rows.NewPlan())
	}
	for _, path := range m.attributes {
		level, rest := r.level(path)
		r.levels[level].MarkAttributes(rest, m.arrays)
	}
	for i, path := range m.explode {
		r.levels[i].Explode(path)
	}
	for _, f := range m.fields() {
		for i := range m.Fields[f] {
			r.cols[f] = append(r.cols[f], r.column(&m.Fields[f][i]))
		}
	}
	for i := range m.rules {
		rule := &m.rules[i]
		r.rules = append(r.rules, planRule{why: rule.why, keep: rule.keep, when: r.test(&rule.when)})
	}
	r.has = r.filled()
	return r
}

func (r *reading) column(c *Column) planColumn {
	pc := planColumn{unit: c.Unit, col: c, at: ref{slot: -1}, simple: c.As == "" && c.Values == nil && c.Const == "" && c.When == nil}
	if c.Path != "" {
		pc.at = r.ref(c.Path)
	}
	if c.asked {
		level, rest := r.level(c.Path)
		pc.above = r.levels[level].Above(rest)
	}
	if c.When != nil {
		t := r.test(c.When)
		pc.when = &t
	}
	return pc
}

// flat forgets what columns are parts of where the first rows have none of it:
// dots are part of the column's name then.
func (r *reading) flat(seen *seen) {
	for f := range r.cols {
		for i := range r.cols[f] {
			c := &r.cols[f][i]
			if at := strings.LastIndexByte(c.col.Path, '.'); c.above != nil && !seen.has(c.col.Path[:at]) {
				c.above = nil
			}
		}
	}
}

// around reports whether the row has what a column is a part of: a body may not
// have been kept.
func (r *reading) around(c *planColumn) bool {
	return c.above == nil || r.levels[c.at.level].Opened(c.above)
}

func (r *reading) test(t *test) planTest {
	p := planTest{of: t, at: ref{slot: -1}}
	if t.path != "" {
		p.at = r.ref(t.path)
	}
	for i := range t.any {
		p.any = append(p.any, r.test(&t.any[i]))
	}
	for i := range t.all {
		p.all = append(p.all, r.test(&t.all[i]))
	}
	return p
}

// level takes the steps ^ off a path, each of which goes one level out. Beyond
// the row, ^ is the key under which a page's own fields stand.
func (r *reading) level(path string) (int, string) {
	at := len(r.levels) - 1
	for at > 0 {
		rest, ok := strings.CutPrefix(path, "^.")
		if !ok {
			break
		}
		at, path = at-1, rest
	}
	return at, path
}

func (r *reading) ref(path string) ref {
	level, rest := r.level(path)
	return ref{level, r.levels[level].Slot(rest)}
}

func (r *reading) cell(at ref) rows.Cell {
	if at.slot < 0 {
		return rows.Cell{}
	}
	return r.levels[at.level].Cell(at.slot)
}

// first is the plan that a container fills.
func (r *reading) first() *rows.Plan { return r.levels[0] }

// each calls do for every request in the row that was filled in, with its
// number from 1, or 0 in a mapping that explodes nothing. It reports whether
// there was any, and stops when do returns false.
func (r *reading) each(do func(sub int64) bool) (any, more bool) {
	if len(r.levels) == 1 {
		return true, do(0)
	}
	n := int64(0)
	more = r.descend(0, func() bool { n++; return do(n) })
	return n > 0, more
}

func (r *reading) descend(level int, do func() bool) bool {
	if level == len(r.levels)-1 {
		return do()
	}
	p, inner := r.levels[level], r.levels[level+1]
	for _, v := range p.Exploded() {
		if v.Type() == fastjson.TypeNull {
			continue
		}
		if r.visit != nil {
			r.visit(level+1, v)
		}
		inner.Take(v) // a column that is there twice counts once
		if !r.descend(level+1, do) {
			return false
		}
	}
	return true
}

// holds evaluates a test on the current row.
func (r *reading) holds(t *planTest, text func(rows.Cell) string) bool {
	if t.of.path != "" && !t.of.value(r.cell(t.at), text) {
		return false
	}
	for i := range t.all {
		if !r.holds(&t.all[i], text) {
			return false
		}
	}
	if len(t.any) == 0 {
		return true
	}
	for i := range t.any {
		if r.holds(&t.any[i], text) {
			return true
		}
	}
	return false
}

// value asks a test of one cell. A cell without a value is in no list.
func (t *test) value(c rows.Cell, text func(rows.Cell) string) bool {
	if t.present != nil && *t.present == empty(c) {
		return false
	}
	if len(t.is) == 0 && len(t.not) == 0 && t.like == nil {
		return true
	}
	if c.Absent() {
		return false
	}
	s := text(c)
	switch {
	case len(t.is) > 0 && !foldIn(t.is, s), len(t.not) > 0 && foldIn(t.not, s):
		return false
	}
	return t.like == nil || t.like.MatchString(s)
}

func foldIn(list []string, s string) bool {
	for _, l := range list {
		if len(l) == len(s) && strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}

// empty says that a cell holds nothing: no value, empty text, {} or [].
func empty(c rows.Cell) bool {
	if c.Value == nil {
		return c.Text == "" || c.Text == "{}" || c.Text == "[]"
	}
	switch c.Value.Type() {
	case fastjson.TypeString:
		s := c.Value.GetStringBytes()
		return len(s) == 0 || string(s) == "{}" || string(s) == "[]"
	case fastjson.TypeObject:
		o, _ := c.Value.Object()
		return o.Len() == 0
	case fastjson.TypeArray:
		return len(c.Value.GetArray()) == 0
	}
	return false
}
