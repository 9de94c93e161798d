package ingest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"reprise/trace/strictyaml"
)

//go:embed schemas/*.yaml schemas/parts/*.yaml
var schemaFiles embed.FS

// schema is a known log source.
type schema struct {
	name     string
	about    string
	evidence string
	require  [][]string // of each, one must be there
	without  []string   // none must be there
	match    []test
	mapping  Mapping
}

// library reads schemas and the parts that they are made of, each once.
type library struct {
	done map[string]schema
	user bool     // the first one is the user's own
	busy []string // schemas that are being read, against circles
}

// schemas are the embedded data files, in order of name, read when first asked
// for. They are never written to.
var schemas = sync.OnceValues(readSchemas)

func readSchemas() ([]schema, error) {
	files, err := fs.Glob(schemaFiles, "schemas/*.yaml")
	if err != nil {
		return nil, err
	}
	lib := &library{done: map[string]schema{}}
	var out []schema
	for _, file := range files {
		s, err := lib.named(strings.TrimSuffix(path.Base(file), ".yaml"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(s.require)+len(s.match) == 0 {
			return nil, fmt.Errorf("%s: a schema needs require or match", file)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseMappingFile reads a mapping of the user's, in the language of the
// embedded ones. What it needs of them (extends, request, response) it has.
func parseMappingFile(data []byte) (*schema, error) {
	lib := &library{done: map[string]schema{}, user: true}
	s, err := lib.parse(data)
	if err != nil {
		return nil, err
	}
	if s.name == "" {
		s.name = "mapped"
	}
	return &s, nil
}

// named returns the schema or part of a name.
func (l *library) named(name string) (schema, error) {
	if s, ok := l.done[name]; ok {
		return s, nil
	}
	if slices.Contains(l.busy, name) {
		return schema{}, fmt.Errorf("extends %q, which extends it in turn", name)
	}
	data, err := schemaFiles.ReadFile("schemas/" + name + ".yaml")
	if err != nil {
		if data, err = schemaFiles.ReadFile("schemas/parts/" + name + ".yaml"); err != nil {
			return schema{}, fmt.Errorf("no mapping is called %q", name)
		}
	}
	l.busy = append(l.busy, name)
	s, err := l.parse(data)
	l.busy = l.busy[:len(l.busy)-1]
	if err == nil {
		l.done[name] = s
	}
	return s, err
}

func (l *library) parse(data []byte) (schema, error) {
	var file mapFile
	if err := strictyaml.Decode(data, &file); err != nil {
		return schema{}, err
	}
	s := schema{}
	if file.Extends != "" {
		base, err := l.named(file.Extends)
		if err != nil {
			return schema{}, err
		}
		s.mapping, s.evidence = base.mapping, base.evidence
	}
	m := &s.mapping
	m.Fields = cloneFields(m.Fields)
	if err := s.take(&file); err != nil {
		return schema{}, err
	}
	if l.user && len(l.busy) == 0 && (file.Complete == nil || *file.Complete) {
		m.ask(&file)
	}
	for _, in := range file.includes() {
		p, err := l.named(in.Part)
		if err != nil {
			return schema{}, err
		}
		m.include(&p.mapping, in)
	}
	if file.Complete != nil {
		m.Complete = *file.Complete
	}
	if len(m.Fields) == 0 && m.shape == nil {
		return schema{}, errors.New("a mapping needs fields")
	}
	return s, m.checkLevels()
}

func cloneFields(in map[Field][]Column) map[Field][]Column {
	out := map[Field][]Column{}
	for f, c := range in {
		out[f] = slices.Clone(c)
	}
	return out
}

// take lays what the file says over what is there.
func (s *schema) take(file *mapFile) error {
	s.name, s.about = file.Name, file.About
	if file.Evidence != "" {
		s.evidence = file.Evidence
	}
	for _, r := range file.Require {
		s.require = append(s.require, strings.Split(r, "|"))
	}
	s.without = file.Without
	var err error
	if s.match, err = compileAll(file.Match); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	m := &s.mapping
	replace(&m.explode, file.Explode)
	replace(&m.attributes, file.Attributes)
	replace(&m.arrays, file.Arrays)
	replace(&m.truncated, file.Truncated)
	replace(&m.redacted, file.Redacted)
	m.ignore = append(slices.Clone(m.ignore), file.Ignore...)
	if file.BlockTokens > 0 {
		m.BlockTokens = file.BlockTokens
	}
	m.earlyStream = m.earlyStream || file.EarlyStream
	if file.Shape != nil {
		if err := file.Shape.Check(); err != nil {
			return fmt.Errorf("shape: %w", err)
		}
		m.shape = file.Shape
	}
	if err := m.takeTokens(&file.Tokens); err != nil {
		return err
	}
	if err := m.takeRules(file); err != nil {
		return err
	}
	return m.takeFields(file.Fields)
}

func replace(to *[]string, by []string) {
	if len(by) > 0 {
		*to = by
	}
}

func (m *Mapping) takeTokens(t *tokensFile) error {
	switch {
	case t.Rest != "" && t.Rest != "reasoning":
		return fmt.Errorf("tokens: rest can be reasoning, nothing else")
	case t.Zeroes != "" && t.Zeroes != "real":
		return fmt.Errorf("tokens: zeroes can be real, nothing else")
	}
	m.rest = m.rest || t.Rest != ""
	m.realZeroes = m.realZeroes || t.Zeroes != ""
	if t.Learn != nil {
		m.noLearn = !*t.Learn
	}
	return nil
}

func (m *Mapping) takeRules(file *mapFile) error {
	m.rules = slices.Clone(m.rules)
	for _, list := range []struct {
		key  string
		of   []ruleFile
		keep bool
	}{{"keep", file.Keep, true}, {"exclude", file.Exclude, false}} {
		for _, r := range list.of {
			if !validRule(r.Why) {
				return fmt.Errorf("%s: why must be a short name in lower case, such as not_generation", list.key)
			}
			if r.When == nil {
				return fmt.Errorf("%s %s: when is missing", list.key, r.Why)
			}
			t, err := r.When.compile()
			if err != nil {
				return fmt.Errorf("%s %s: %w", list.key, r.Why, err)
			}
			m.rules = append(m.rules, rule{why: Rule(r.Why), when: t, keep: list.keep})
		}
	}
	return nil
}

func (m *Mapping) takeFields(fields map[string]columnSet) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, err := parseField(name)
		if err != nil {
			return err
		}
		m.Fields[f] = nil // in the place of what is extended
		for i := range fields[name] {
			c, err := fields[name][i].column(f)
			if err != nil {
				return err
			}
			m.Fields[f] = append(m.Fields[f], c)
		}
	}
	return nil
}

// ask marks the columns that the file names itself.
func (m *Mapping) ask(file *mapFile) {
	for f := range m.Fields {
		if _, own := file.Fields[f.String()]; !own {
			continue
		}
		for i := range m.Fields[f] {
			m.Fields[f][i].asked = true
		}
	}
}

// column makes a column of its written form.
func (f *columnFile) column(field Field) (Column, error) {
	c, err := Column{}, error(nil)
	if f.Path != "" {
		if c, err = parseColumn(field, f.Path); err != nil {
			return c, err
		}
	}
	if f.Unit != "" {
		c.Unit = f.Unit
	}
	c.As, c.Const, c.Beside = f.As, f.Const, c.Beside || f.Beside
	if len(f.Values) > 0 {
		c.Values = map[string]string{}
		for k, v := range f.Values {
			c.Values[strings.ToLower(k)] = v
		}
	}
	if f.When != nil {
		t, err := f.When.compile()
		if err != nil {
			return c, fmt.Errorf("%s: %w", field, err)
		}
		c.When = &t
	}
	return c, c.check(field)
}

// includes lists the parts of a file: those it names, requests, responses.
func (f *mapFile) includes() []includeFile {
	out := slices.Clone(f.Include)
	for _, at := range f.Request {
		out = append(out, includeFile{Part: "request", At: at})
	}
	for _, at := range f.Response {
		out = append(out, includeFile{Part: "response", At: at})
	}
	return out
}

// include adds a part below a prefix, its columns as fallbacks of what the
// mapping has itself.
func (m *Mapping) include(part *Mapping, in includeFile) {
	prefix := in.At
	for _, f := range part.fields() {
		if slices.Contains(in.Without, f.String()) {
			continue
		}
		for _, c := range part.Fields[f] {
			if c.Path != "" {
				c.Path = joinPath(prefix, c.Path)
			}
			if c.When != nil {
				t := c.When.under(prefix)
				c.When = &t
			}
			m.Fields[f] = append(m.Fields[f], c)
		}
	}
	for _, r := range part.rules {
		r.when = r.when.under(prefix)
		m.rules = append(m.rules, r)
	}
	for _, path := range part.ignore {
		m.ignore = append(m.ignore, joinPath(prefix, path))
	}
	m.arrays = append(m.arrays, part.arrays...)
	m.truncated = append(m.truncated, part.truncated...)
	m.redacted = append(m.redacted, part.redacted...)
	m.Complete = m.Complete || part.Complete
	m.earlyStream = m.earlyStream || part.earlyStream
	m.rest = m.rest || part.rest
}

// checkLevels refuses paths that go further out than a row's page.
func (m *Mapping) checkLevels() error {
	var err error
	m.paths(func(path string) {
		up := 0
		for rest, ok := strings.CutPrefix(path, "^."); ok; rest, ok = strings.CutPrefix(rest, "^.") {
			up++
		}
		if up > len(m.explode)+1 && err == nil {
			err = fmt.Errorf("%s goes %d levels out of %d", path, up, len(m.explode)+1)
		}
	})
	return err
}

// paths calls add with every path of the mapping.
func (m *Mapping) paths(add func(string)) {
	for _, f := range m.fields() {
		for _, c := range m.Fields[f] {
			if c.Path != "" {
				add(c.Path)
			}
			if c.When != nil {
				c.When.paths(add)
			}
		}
	}
	for i := range m.rules {
		m.rules[i].when.paths(add)
	}
	for _, path := range m.attributes {
		add(path)
	}
}

// SchemaNames returns the names of the known sources: those of their files, so
// that none has to be read.
func SchemaNames() ([]string, error) {
	files, err := schemaFiles.ReadDir("schemas")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}
