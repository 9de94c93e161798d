package ingest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/ingest/scalar"
	"reprise/ingest/shape"
	"reprise/trace/strictyaml"
)

// Column is where a field comes from: the name of a CSV column, or a path of
// JSON keys joined by dots, with numbers for array elements and * for any of
// them; and for times and durations a unit: s, ms, us, ns or ticks. A time
// without a unit is told by its magnitude, a duration without one is in
// seconds. In an exploded row a step ^ at the start goes one level out.
type Column struct {
	Path   string
	Unit   string
	As     string            // present: whether there is a value; length: of a list; text: JSON as it is
	Values map[string]string // what each value, in lower case, means; others are no value
	Const  string            // a value of the mapping itself
	Beside bool              // a part that the source does not count in its whole
	When   *test             // the column counts only in rows that it holds for

	asked bool // named by the user; of a feature, a row without it did not use it
}

// Mapping says which columns are which fields. Of several columns for one field
// the first that a row has is taken.
type Mapping struct {
	Fields      map[Field][]Column
	BlockTokens int  // size of blocks that the source gives
	Complete    bool // rows hold the whole request, so a feature not in it was not used

	file        *schema  // a whole mapping file of the user's
	explode     []string // paths of the lists that hold requests, each in an element of the one before
	attributes  []string // lists of {key, value}, or objects with dotted keys
	arrays      []string // dotted keys below which numbers are positions
	rules       []rule
	rest        bool     // what total has beyond its parts is reasoning
	noLearn     bool     // the first rows do not tell what counts include
	realZeroes  bool     // a count of zero is no gap
	truncated   []string // texts that stand where some was cut out
	redacted    []string // texts that stand for others
	earlyStream bool     // a first token before the end is a stream
	ignore      []string
	shape       *shape.File
}

// ParseMap reads arguments of the form field=column or field=column@unit, the
// column a path as in Column, and names of mapping files. A field may come
// twice, the second as fallback.
func ParseMap(args []string) (*Mapping, error) {
	m := &Mapping{Fields: map[Field][]Column{}}
	for _, arg := range args {
		name, column, ok := strings.Cut(arg, "=")
		if !ok && isMapFile(arg) {
			if err := m.load(arg); err != nil {
				return nil, err
			}
			continue
		}
		if !ok || column == "" {
			return nil, fmt.Errorf("--map %q: want field=column, field=column@unit or the name of a file.yaml", arg)
		}
		if err := m.add(strings.TrimSpace(name), strings.TrimSpace(column)); err != nil {
			return nil, fmt.Errorf("--map %q: %w", arg, err)
		}
	}
	return m, nil
}

func isMapFile(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// load takes a mapping file, of which there can be one.
func (m *Mapping) load(path string) error {
	if m.file != nil {
		return fmt.Errorf("--map %s: one mapping file is enough; put them together", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--map: %w", err)
	}
	if m.file, err = parseMappingFile(data); err != nil {
		return fmt.Errorf("--map %s: %w", path, err)
	}
	return nil
}

func (m *Mapping) add(name, column string) error {
	f, err := parseField(name)
	if err != nil {
		return err
	}
	if f == FieldBlocks {
		if column, m.BlockTokens, err = blockSize(column); err != nil {
			return err
		}
	}
	c, err := parseColumn(f, column)
	if c.asked = true; err == nil {
		m.Fields[f] = append(m.Fields[f], c)
	}
	return err
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
	if path, ok := strings.CutSuffix(s, "@beside"); ok && f.isPart() {
		c.Path, c.Beside = path, true
	} else if at := strings.LastIndexByte(s, '@'); at > 0 && scalar.KnownUnit(s[at+1:]) {
		c.Path, c.Unit = s[:at], s[at+1:]
	}
	return c, c.check(f)
}

func (c *Column) check(f Field) error {
	switch {
	case c.Unit != "" && !scalar.KnownUnit(c.Unit):
		return fmt.Errorf("%s: no unit %q; there are s, ms, us, ns and ticks, and mdy and dmy for dates with slashes", f, c.Unit)
	case c.Unit != "" && scalar.PerSecond(c.Unit) == 0 && !f.isTime():
		return fmt.Errorf("%s is no date, so it takes no %s", f, c.Unit)
	case c.Unit != "" && !f.isTime() && !f.isSpan():
		return fmt.Errorf("%s takes no unit", f)
	case c.Beside && !f.isPart():
		return fmt.Errorf("%s is no part of another count, so it cannot stand beside one", f)
	case !slices.Contains([]string{"", "present", "length", "text"}, c.As):
		return fmt.Errorf("%s: as can be present, length or text, nothing else", f)
	case c.Path == "" && c.Const == "":
		return fmt.Errorf("no column is named")
	}
	return nil
}

// over returns base with the fields of m in the place of its own.
func (m *Mapping) over(base *Mapping) *Mapping {
	out := *base
	out.Fields = map[Field][]Column{}
	for f, c := range base.Fields {
		out.Fields[f] = c
	}
	for f, c := range m.Fields {
		out.Fields[f] = c
	}
	if m.BlockTokens > 0 {
		out.BlockTokens = m.BlockTokens
	}
	return &out
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

// check reports mapped columns of the user that no sampled row has, and of which
// it can be told that none will: there is a header, or every row has such a
// field. Others may come later, as a first call of a tool may.
func (m *Mapping) check(seen *seen) error {
	for _, f := range m.fields() {
		if seen.hasAny(m.Fields[f]) {
			continue
		}
		if !seen.header && !f.inEveryRow() {
			continue
		}
		path, hint := m.Fields[f][0].Path, ""
		if seen.numbered() {
			hint = "; columns without a header go by number, the first as #1: --map " + f.String() + "=#1"
		}
		return fmt.Errorf("--map %s: no column %q among the first %d rows; columns seen: %s%s", f, path, seen.rows, seen.list(), hint)
	}
	return nil
}

// hasAny reports whether one of a field's columns is there.
func (s *seen) hasAny(columns []Column) bool {
	return slices.ContainsFunc(columns, func(c Column) bool { return c.Const != "" || s.has(c.Path) })
}

// missed are notes of the columns that the user names and no row of the log had.
func (l *Log) missed() []string {
	if l.in.Map == nil {
		return nil
	}
	var out []string
	for _, f := range l.in.Map.fields() {
		columns := l.in.Map.Fields[f]
		if l.met[f] > 0 || len(l.taken) == 0 || slices.ContainsFunc(l.taken, func(t *taken) bool { return t.columns.hasAny(columns) }) {
			continue
		}
		line := fmt.Sprintf("no row has the column %q that --map names for %s", columns[0].Path, f)
		if f.isFeature() {
			line += ", which so counts as not used"
		}
		if near := l.taken[0].columns.near(columns[0].Path); near != "" {
			line += fmt.Sprintf("; did you mean %q?", near)
		}
		out = append(out, line)
	}
	return out
}

// near is the name seen that is most like a path, if one is much like it.
func (s *seen) near(path string) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.names)), func(name string) bool { return !showable(name) })
	return strictyaml.Nearest(path, names)
}
