package ingest

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"reprise/trace/strictyaml"
)

//go:embed schemas/*.yaml
var schemaFiles embed.FS

// schemaFile is a data file of schemas/. Each entry of require is a column that
// must be seen, or several with | between them of which one must.
type schemaFile struct {
	Name        string               `yaml:"name"`
	About       string               `yaml:"about"`
	Require     []string             `yaml:"require"`
	Fields      map[string]stringSet `yaml:"fields"`
	Ignore      []string             `yaml:"ignore"`
	BlockTokens int                  `yaml:"block_tokens"`
	Complete    bool                 `yaml:"complete"`
}

// stringSet is one string or a list of them.
type stringSet []string

func (s *stringSet) UnmarshalYAML(b []byte) error {
	text := strings.TrimSpace(string(b))
	if list, ok := strings.CutPrefix(text, "["); ok {
		for item := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			*s = append(*s, strings.Trim(strings.TrimSpace(item), `"'`))
		}
		return nil
	}
	*s = stringSet{strings.Trim(text, `"'`)}
	return nil
}

// schema is a known log source.
type schema struct {
	name    string
	about   string
	require [][]string
	ignore  []string
	mapping Mapping
}

// schemas reads the embedded data files, in order of name.
func schemas() ([]schema, error) {
	files, err := fs.Glob(schemaFiles, "schemas/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []schema
	for _, file := range files {
		b, err := schemaFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := parseSchema(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func parseSchema(b []byte) (schema, error) {
	var file schemaFile
	if err := strictyaml.Decode(b, &file); err != nil {
		return schema{}, err
	}
	s := schema{name: file.Name, about: file.About, ignore: file.Ignore,
		mapping: Mapping{Fields: map[Field][]Column{}, BlockTokens: file.BlockTokens, Complete: file.Complete}}
	for _, r := range file.Require {
		s.require = append(s.require, strings.Split(r, "|"))
	}
	if s.name == "" || len(s.require) == 0 || len(file.Fields) == 0 {
		return schema{}, fmt.Errorf("a schema needs name, require and fields")
	}
	for name, columns := range file.Fields {
		f, err := parseField(name)
		if err != nil {
			return schema{}, err
		}
		for _, text := range columns {
			c, err := parseColumn(f, text)
			if err != nil {
				return schema{}, err
			}
			s.mapping.Fields[f] = append(s.mapping.Fields[f], c)
		}
	}
	return s, nil
}

// SchemaNames returns the names of the known sources with a line on each.
func SchemaNames() (names, about []string, err error) {
	list, err := schemas()
	for _, s := range list {
		names, about = append(names, s.name), append(about, s.about)
	}
	return names, about, err
}

// seen is what the first rows of a log hold: names of columns, no values.
type seen struct {
	rows   int
	names  map[string]int // rows that have the column
	header bool           // names come from one header row
	first  *RowError      // the first row that could not be read
}

func (s *seen) has(path string) bool { return s.names[path] > 0 }

// hits is how many of the required columns are there.
func (s *seen) hits(sc *schema) int {
	n := 0
	for _, any := range sc.require {
		if slices.ContainsFunc(any, s.has) {
			n++
		}
	}
	return n
}

// covered counts the schema's fields that have a column.
func (s *seen) covered(sc *schema) int {
	n := 0
	for _, f := range sc.mapping.fields() {
		if slices.ContainsFunc(sc.mapping.Fields[f], func(c Column) bool { return s.has(c.Path) }) {
			n++
		}
	}
	return n
}

// recognise picks the schema whose required columns are all there; of several
// the one that asks for most, then the one that covers most fields. nearest is
// the one with the largest share of its columns there, nil when none has any.
func (s *seen) recognise(list []schema) (best *schema, nearest *schema) {
	share := 0.0
	for i := range list {
		sc := &list[i]
		n := s.hits(sc)
		if part := float64(n) / float64(len(sc.require)); part > share {
			nearest, share = sc, part
		}
		if n < len(sc.require) {
			continue
		}
		if best == nil || n > len(best.require) || (n == len(best.require) && s.covered(sc) > s.covered(best)) {
			best = sc
		}
	}
	return best, nearest
}

// maxListed is how many names an error lists.
const maxListed = 25

// list gives the columns seen, at most two steps deep. What does not look like
// a name is left out, and so is a whole header row in which one cell does not:
// it is data, and the header is missing.
func (s *seen) list() string {
	var out []string
	hidden := 0
	for name := range s.names {
		prose := len(s.names) == 1 && strings.Contains(name, " ")
		if s.header && (prose || !looksLikeName(name)) {
			return "none that are names (is the header row missing?)"
		}
	}
	for _, name := range sortedKeys(s.names) {
		switch {
		case strings.Count(name, ".") > 1:
		case !looksLikeName(name) || len(out) == maxListed:
			hidden++
		default:
			out = append(out, name)
		}
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("and %d that are not listed", hidden))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// looksLikeName accepts identifiers and short titles such as "Request tokens".
func looksLikeName(s string) bool {
	if len(s) == 0 || len(s) > 40 || strings.Count(s, " ") > 2 || (s[0] >= '0' && s[0] <= '9') {
		return false
	}
	for _, r := range s {
		ok := r == '_' || r == '-' || r == '.' || r == ' ' || r == '/' || r == ':' ||
			(r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !ok {
			return false
		}
	}
	return true
}
