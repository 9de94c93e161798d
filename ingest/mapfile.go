package ingest

import (
	"fmt"
	"regexp"
	"strings"

	"reprise/ingest/shape"
)

// mapFile is a mapping as people write it; reprise init mapping prints one with
// every key explained.
type mapFile struct {
	Name        string               `yaml:"name"`
	About       string               `yaml:"about"`
	Evidence    string               `yaml:"evidence"` // "real files", else what the mapping rests on
	Extends     string               `yaml:"extends"`
	Require     []string             `yaml:"require"`
	Without     []string             `yaml:"without"`
	Match       []testFile           `yaml:"match"`
	Shape       *shape.File          `yaml:"shape"`
	Explode     stringSet            `yaml:"explode"`
	Attributes  stringSet            `yaml:"attributes"`
	Arrays      stringSet            `yaml:"arrays"`
	Include     []includeFile        `yaml:"include"`
	Request     stringSet            `yaml:"request"`
	Response    stringSet            `yaml:"response"`
	Fields      map[string]columnSet `yaml:"fields"`
	Keep        []ruleFile           `yaml:"keep"`
	Exclude     []ruleFile           `yaml:"exclude"`
	Tokens      tokensFile           `yaml:"tokens"`
	Truncated   []string             `yaml:"truncated"`
	Redacted    []string             `yaml:"redacted"`
	Ignore      stringSet            `yaml:"ignore"`
	BlockTokens int                  `yaml:"block_tokens"`
	Complete    *bool                `yaml:"complete"`
	EarlyStream bool                 `yaml:"stream_if_first_token"`
}

// includeFile puts a part below a path; "." is the row itself.
type includeFile struct {
	Part    string    `yaml:"part"`
	At      string    `yaml:"at"`
	Without stringSet `yaml:"without"` // fields that are not taken from it
}

// tokensFile says what a source's counts mean where the counts themselves do
// not show it.
type tokensFile struct {
	Rest   string `yaml:"rest"`   // reasoning: what total has beyond input and output
	Learn  *bool  `yaml:"learn"`  // look at the first rows; default true
	Zeroes string `yaml:"zeroes"` // real: a count of zero is a count and not a gap
}

// columnFile is one place of a field's value: "path", "path@unit", or a map.
type columnFile struct {
	Path   string            `yaml:"path"`
	Unit   string            `yaml:"unit"`
	As     string            `yaml:"as"`
	Values map[string]string `yaml:"values"`
	Const  string            `yaml:"const"`
	Beside bool              `yaml:"beside"`
	When   *testFile         `yaml:"when"`
}

// UnmarshalYAML takes the short form too.
func (c *columnFile) UnmarshalYAML(decode func(any) error) error {
	if path, ok := scalarOf(decode); ok {
		c.Path = path
		return nil
	}
	type plain columnFile
	return decode((*plain)(c))
}

// columnSet is one column or a list of them, in order of preference.
type columnSet []columnFile

// UnmarshalYAML takes one column without a list.
func (s *columnSet) UnmarshalYAML(decode func(any) error) error {
	var kind any
	if err := decode(&kind); err != nil {
		return err
	}
	if _, list := kind.([]any); list {
		return decode((*[]columnFile)(s))
	}
	var one columnFile
	err := decode(&one)
	*s = columnSet{one}
	return err
}

// scalarOf is the text of a YAML scalar; ok is false for lists and maps.
func scalarOf(decode func(any) error) (string, bool) {
	var v any
	if err := decode(&v); err != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case nil, []any, map[string]any:
		return "", false
	default:
		return fmt.Sprint(v), true
	}
}

// stringSet is one string or a list of them.
type stringSet []string

// UnmarshalYAML takes one string without a list.
func (s *stringSet) UnmarshalYAML(decode func(any) error) error {
	if one, ok := scalarOf(decode); ok {
		*s = stringSet{one}
		return nil
	}
	return decode((*[]string)(s))
}

// testFile asks something of a row. What is given must hold together: a value
// that is one of is, none of not, and matches like; or any or all of others.
type testFile struct {
	Path    string     `yaml:"path"`
	Is      stringSet  `yaml:"is"`
	Not     stringSet  `yaml:"not"`
	Like    string     `yaml:"like"`
	Present *bool      `yaml:"present"`
	Any     []testFile `yaml:"any"`
	All     []testFile `yaml:"all"`
}

// ruleFile is a test with the name of the reason.
type ruleFile struct {
	Why  string    `yaml:"why"`
	When *testFile `yaml:"when"`
}

// test is a testFile made ready: values in lower case.
type test struct {
	path    string
	is, not []string
	like    *regexp.Regexp
	present *bool
	any     []test
	all     []test
}

// rule keeps a row out of the workload, under a name.
type rule struct {
	why  Rule
	when test
	keep bool // rows that the test holds for stay, others go
}

func (f *testFile) compile() (test, error) {
	t := test{path: f.Path, present: f.Present, is: lower(f.Is), not: lower(f.Not)}
	if f.Like != "" {
		re, err := regexp.Compile(f.Like)
		if err != nil {
			return t, fmt.Errorf("%q is no regular expression", f.Like)
		}
		t.like = re
	}
	asks := len(f.Is) > 0 || len(f.Not) > 0 || f.Like != "" || f.Present != nil
	switch {
	case f.Path == "" && asks:
		return t, fmt.Errorf("a test needs the path that it looks at")
	case f.Path != "" && !asks:
		return t, fmt.Errorf("the test of %s asks nothing: give is, not, like or present", f.Path)
	case f.Path == "" && len(f.Any) == 0 && len(f.All) == 0:
		return t, fmt.Errorf("a test needs a path, any or all")
	}
	var err error
	if t.any, err = compileAll(f.Any); err != nil {
		return t, err
	}
	t.all, err = compileAll(f.All)
	return t, err
}

func compileAll(files []testFile) ([]test, error) {
	var out []test
	for i := range files {
		t, err := files[i].compile()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// under returns the test with its paths below prefix.
func (t test) under(prefix string) test {
	if t.path != "" {
		t.path = joinPath(prefix, t.path)
	}
	t.any, t.all = allUnder(t.any, prefix), allUnder(t.all, prefix)
	return t
}

func allUnder(list []test, prefix string) []test {
	var out []test
	for _, t := range list {
		out = append(out, t.under(prefix))
	}
	return out
}

// paths calls add with every path that the test looks at.
func (t *test) paths(add func(string)) {
	if t.path != "" {
		add(t.path)
	}
	for i := range t.any {
		t.any[i].paths(add)
	}
	for i := range t.all {
		t.all[i].paths(add)
	}
}

func (t *test) String() string {
	switch {
	case t.path == "":
		return "values that fit"
	case len(t.is) > 0:
		return t.path + " = " + strings.Join(t.is, " or ")
	case t.like != nil:
		return t.path + " of its form"
	}
	return t.path
}

// joinPath puts rel below prefix; "." is the prefix itself.
func joinPath(prefix, rel string) string {
	switch {
	case rel == ".":
		return prefix
	case prefix == ".":
		return rel
	}
	return prefix + "." + rel
}

func lower(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.ToLower(s))
	}
	return out
}
