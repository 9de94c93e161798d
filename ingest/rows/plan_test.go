package rows

import (
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

// text is what a plan has at a slot, as one string.
func text(p *Plan, slot int) string {
	c := p.Cell(slot)
	if c.Value != nil {
		return c.Value.String()
	}
	return c.Text
}

// A path finds its value through objects, arrays, dotted keys and JSON that is
// kept as text.
func TestTake(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":{"b":[{"c":7}]}}`:         `7`,
		`{"a.b":[{"c":7}]}`:             `7`,
		`{"a":{"b":"[{\"c\":7}]"}}`:     `7`,
		`{"a":"{\"b\":[{\"c\":7}]}"}`:   `7`,
		`{"a":"{'b': [{'c': 7}]}"}`:     `7`,
		`{"a":{"b":[{"c":null}]}}`:      ``,
		`{"a":{"b":[]},"c":7}`:          ``,
		`{"a":{"b":{"c":7}}}`:           ``,
		`{"x":{"a":{"b":[{"c":7}]}}}`:   ``,
		`{"a":{"b":[{"c":{"d":[1]}}]}}`: `{"d":[1]}`,
	} {
		p := NewPlan()
		slot := p.Slot("a.b.0.c")
		if e := p.Take(fastjson.MustParse(in)); e != nil {
			t.Errorf("%s: %v", in, e)
		}
		if got := text(p, slot); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

// A column that is there twice is told, but for values below *; the next row
// begins anew.
func TestTwice(t *testing.T) {
	p := NewPlan()
	p.Slot("a")
	p.Slot("l.*.b")
	twoOf := fastjson.MustParse(`{"a":1,"a":2}`)
	for range 2 {
		if e := p.Take(twoOf); e == nil || e.Reason != DuplicateKey {
			t.Fatal(e)
		}
		if e := p.Take(fastjson.MustParse(`{"a":1,"l":[{"b":1},{"b":2}]}`)); e != nil {
			t.Fatal(e)
		}
	}
	p.Start()
	n := p.Find("a")
	if e := p.Put(n, "1"); e != nil {
		t.Fatal(e)
	}
	if e := p.Put(n, "1"); e == nil || e.Reason != DuplicateKey {
		t.Fatal(e)
	}
	if p.Find("other") != nil || p.Wants("other") || !p.Wants("l") {
		t.Error("columns that nobody asked for are wanted")
	}
}

// Cells of tables are texts, and JSON in them is looked into.
func TestPut(t *testing.T) {
	p := NewPlan()
	whole, part := p.Slot("body"), p.Slot("body.model")
	p.Start()
	if e := p.Put(p.Find("body"), `{"model":"m"}`); e != nil {
		t.Fatal(e)
	}
	if text(p, whole) != `{"model":"m"}` || text(p, part) != `"m"` {
		t.Error(text(p, whole), text(p, part))
	}
	p.Start()
	if !p.Cell(whole).Absent() || !p.Cell(part).Absent() {
		t.Error("a row has the values of the one before")
	}
}

// Attributes are found in pairs, typed or not, and in dotted keys, whose numbers
// are put in order.
func TestAttributes(t *testing.T) {
	for in, want := range map[string]string{
		`[{"key":"gen.model","value":{"stringValue":"m"}},{"key":"gen.msg.1.role","value":{"stringValue":"b"}},{"key":"gen.msg.0.role","value":"a"}]`: `"m" [{"role":"a"},{"role":"b"}]`,
		`{"gen.model":"m","gen.msg.0.role":"a"}`: `"m" [{"role":"a"}]`,
		`"{\"gen.model\":\"m\"}"`:                `"m" `,
	} {
		p := NewPlan()
		p.MarkAttributes("at", []string{"gen.msg"})
		model, list := p.Slot("at.gen.model"), p.Slot("at.gen.msg")
		if e := p.Take(fastjson.MustParse(`{"at":` + in + `}`)); e != nil {
			t.Fatal(e)
		}
		if got := text(p, model) + " " + text(p, list); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

// The elements of the list that is exploded are not named with the row.
func TestNames(t *testing.T) {
	p := NewPlan()
	p.Explode("calls")
	row := fastjson.MustParse(`{"id":1,"calls":[{"a":1},{"a":2}],"tags":[{"b":"{\"c\":1}"}]}`)
	if e := p.Take(row); e != nil || len(p.Exploded()) != 2 {
		t.Fatal(e, p.Exploded())
	}
	var got []string
	p.Names("", ".", row, func(name string) { got = append(got, name) })
	slices.Sort(got)
	if s := strings.Join(slices.Compact(got), " "); s != "id tags tags.0 tags.0.b tags.0.b.c" {
		t.Error(s)
	}
}

// Whatever a row holds, taking it ends, and a cell is absent or has a value.
func FuzzTake(f *testing.F) {
	f.Add(`{"a":{"b":[{"c":1}]},"at":[{"key":"x.0.y","value":{"intValue":"1"}}]}`)
	f.Add(`{"a":"{'b': [1, 2]}","at":"{\"x.1\":2}"}`)
	f.Fuzz(func(t *testing.T, in string) {
		v, err := fastjson.Parse(in)
		if err != nil {
			return
		}
		p := NewPlan()
		p.Slot("a.b.*.c")
		p.MarkAttributes("at", []string{"x"})
		p.Slot("at.x")
		p.Explode("list")
		if p.Take(v) == nil {
			p.Exploded()
			p.Names("", ".", v, func(string) {})
		}
	})
}
