package ingest

import (
	"fmt"
	"slices"
	"strings"

	"reprise/ingest/rows"
)

// seen is what the first rows of a log hold: names of columns, no values.
type seen struct {
	rows    int
	names   map[string]int // rows that have the column
	header  bool           // names come from one header row
	counted bool           // a row has a number or a time, or the header is surely one
	first   *rows.Error    // the first row that could not be read
	matched map[string]int // rows that a schema's test held for, by testKey
}

func testKey(schema string, i int) string { return fmt.Sprint(schema, "#", i) }

// has reports whether a column is there; * stands for any position.
func (s *seen) has(path string) bool {
	return s.names[path] > 0 || s.names[strings.ReplaceAll(path, "*", "0")] > 0
}

// hits is how many of the things that a schema is told by are there.
func (s *seen) hits(sc *schema) int {
	n := 0
	for _, any := range sc.require {
		if slices.ContainsFunc(any, s.has) {
			n++
		}
	}
	for i := range sc.match {
		if s.matched[testKey(sc.name, i)] > 0 {
			n++
		}
	}
	return n
}

// covered counts the schema's fields that have a column.
func (s *seen) covered(sc *schema) int {
	n := 0
	for _, f := range sc.mapping.fields() {
		if slices.ContainsFunc(sc.mapping.Fields[f], func(c Column) bool { return c.Path != "" && s.has(c.Path) }) {
			n++
		}
	}
	return n
}

// recognise picks the schema of which everything is there that it is told by;
// of several the one that asks for most, values counting more than names, then
// the one that covers most fields. nearest is the one with the largest share of
// it there, nil when none has any.
func (s *seen) recognise(list []schema) (best *schema, nearest *schema) {
	share := 0.0
	for i := range list {
		sc := &list[i]
		n, all := s.hits(sc), len(sc.require)+len(sc.match)
		if part := float64(n) / float64(all); part > share {
			nearest, share = sc, part
		}
		if n < all || slices.ContainsFunc(sc.without, s.has) {
			continue
		}
		if best == nil || sc.weight() > best.weight() ||
			(sc.weight() == best.weight() && s.covered(sc) > s.covered(best)) {
			best = sc
		}
	}
	return best, nearest
}

// lacks says what a mapping file asks for and the log does not have.
func (s *seen) lacks(sc *schema) string {
	for _, any := range sc.require {
		if !slices.ContainsFunc(any, s.has) {
			return "the mapping file asks for " + strings.Join(any, " or ") + ", which is not there"
		}
	}
	return ""
}

// weight is how much a schema asks for.
func (sc *schema) weight() int { return len(sc.require) + 2*len(sc.match) }

// requirement lists what a schema is told by.
func requirement(s *schema) string {
	var out []string
	for _, any := range s.require {
		out = append(out, strings.Join(any, " or "))
	}
	for i := range s.match {
		out = append(out, s.match[i].String())
	}
	return strings.Join(out, ", ")
}

// met lists what of a schema's demands the log has.
func (s *seen) met(sc *schema) string {
	var out []string
	for _, any := range sc.require {
		if i := slices.IndexFunc(any, s.has); i >= 0 {
			out = append(out, any[i])
		}
	}
	if len(sc.match) > 0 {
		out = append(out, "values that fit")
	}
	return strings.Join(out, ", ")
}
