package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/trace/strictyaml"
)

// Column is where a field comes from: the name of a CSV column, or a path of
// JSON keys joined by dots, with numbers for array elements; and for times and
// durations a unit: s, ms, us, ns or ticks. A time without a unit is told by
// its magnitude, a duration without one is in seconds.
type Column struct {
	Path string
	Unit string
}

// Mapping says which columns are which fields. Of several columns for one field
// the first that a row has is taken.
type Mapping struct {
	Fields      map[Field][]Column
	BlockTokens int  // size of blocks that the source gives
	Complete    bool // rows hold the whole request, so a feature not in it was not used
}

// ParseMap reads arguments of the form field=column or field=column@unit, the
// column a path as in Column. A field may come twice, the second as fallback.
func ParseMap(args []string) (*Mapping, error) {
	m := &Mapping{Fields: map[Field][]Column{}}
	for _, arg := range args {
		name, column, ok := strings.Cut(arg, "=")
		if !ok || column == "" {
			return nil, fmt.Errorf("--map %q: want field=column or field=column@unit", arg)
		}
		f, err := parseField(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--map %q: %w", arg, err)
		}
		if f == FieldBlocks {
			if column, m.BlockTokens, err = blockSize(column); err != nil {
				return nil, fmt.Errorf("--map %q: %w", arg, err)
			}
		}
		c, err := parseColumn(f, strings.TrimSpace(column))
		if err != nil {
			return nil, fmt.Errorf("--map %q: %w", arg, err)
		}
		m.Fields[f] = append(m.Fields[f], c)
	}
	return m, nil
}

// blockSize takes the size of the source's blocks off the column, as in
// hash_ids@512.
func blockSize(s string) (column string, size int, err error) {
	at := strings.LastIndexByte(s, '@')
	size, err = strconv.Atoi(s[at+1:])
	if at < 1 || err != nil || size < 1 || size > maxTokens {
		return "", 0, fmt.Errorf("blocks need their size in tokens, as in blocks=column@512")
	}
	return s[:at], size, nil
}

func parseField(name string) (Field, error) {
	f, ok := fieldOf(name)
	if ok {
		return f, nil
	}
	if near := strictyaml.Nearest(name, fieldNames()); near != "" {
		return 0, fmt.Errorf("no field %q; did you mean %q?", name, near)
	}
	return 0, fmt.Errorf("no field %q; the fields are %s", name, strings.Join(fieldNames(), ", "))
}

// parseColumn takes the unit off. An @ that no unit follows is part of the name.
func parseColumn(f Field, s string) (Column, error) {
	c := Column{Path: s}
	if at := strings.LastIndexByte(s, '@'); at > 0 && unitScale(s[at+1:]) > 0 {
		c = Column{Path: s[:at], Unit: s[at+1:]}
	}
	if c.Unit != "" && !f.isTime() && !f.isSpan() {
		return c, fmt.Errorf("%s takes no unit", f)
	}
	if c.Path == "" {
		return c, fmt.Errorf("no column is named")
	}
	return c, nil
}

// over returns base with the fields of m in the place of its own.
func (m *Mapping) over(base *Mapping) *Mapping {
	out := &Mapping{Fields: map[Field][]Column{}, BlockTokens: base.BlockTokens, Complete: base.Complete}
	for f, c := range base.Fields {
		out.Fields[f] = c
	}
	for f, c := range m.Fields {
		out.Fields[f] = c
	}
	if m.BlockTokens > 0 {
		out.BlockTokens = m.BlockTokens
	}
	return out
}

// fields returns the mapped fields in order.
func (m *Mapping) fields() []Field {
	var out []Field
	for f := range numFields {
		if len(m.Fields[f]) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// check reports mapped columns of the user that no sampled row has.
func (m *Mapping) check(seen *seen) error {
	for _, f := range m.fields() {
		if !slices.ContainsFunc(m.Fields[f], func(c Column) bool { return seen.has(c.Path) }) {
			return fmt.Errorf("--map %s: no column %q among the first %d rows; columns seen: %s",
				f, m.Fields[f][0].Path, seen.rows, seen.list())
		}
	}
	return nil
}
