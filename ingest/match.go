package ingest

import "reprise/ingest/rows"

// matcher asks the tests of the known schemas of the first rows of a file.
type matcher struct {
	build *builder
	keys  []string // of the tests
}

// newMatcher is nil when no schema asks for values.
func newMatcher(known []schema) *matcher {
	m := &Mapping{}
	var keys []string
	for i := range known {
		for k := range known[i].match {
			m.rules = append(m.rules, rule{when: known[i].match[k]})
			keys = append(keys, testKey(known[i].name, k))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return &matcher{build: newBuilder(m, nil), keys: keys}
}

// bind tells rows that read no more than is asked for what that is.
func (m *matcher) bind(from rows.Reader) {
	if planned, ok := from.(rows.Binder); ok && m != nil {
		planned.Bind(m.build.read.first())
	}
}

// row counts the tests that hold for the current row.
func (m *matcher) row(from rows.Reader, s *seen) {
	if m == nil || from.Fill(m.build.read.first()) != nil {
		return
	}
	for i := range m.build.read.rules {
		if m.build.holds(&m.build.read.rules[i].when) {
			s.matched[m.keys[i]]++
		}
	}
}
