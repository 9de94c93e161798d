// Package strictyaml reads what people write by hand: agreements, policies,
// mappings. Unknown and duplicate keys are refused with their line and the
// nearest name that exists, so that a slip of the pen is never a silent
// default. Errors are one line.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
)

// Decode reads one YAML document into the struct that v points to.
func Decode(data []byte, v any) (err error) {
	// The library panics on some tags that it cannot make a value of.
	defer func() {
		if recover() != nil {
			err = errors.New("the YAML cannot be read: a tag or key of it makes no value")
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	err = d.Decode(v)
	if errors.Is(err, io.EOF) {
		return errors.New("the file holds no YAML document")
	}
	if err != nil {
		return explain(err, v)
	}
	var more any
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return errors.New("the file holds more than one YAML document")
	}
	return nil
}

// explain makes one line of the library's error, which draws the source.
func explain(err error, v any) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return errors.New(firstLine(err.Error()))
	}
	line := y.GetToken().Position.Line
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		key := y.GetToken().Value
		return fmt.Errorf("line %d: unknown key %q%s", line, key, suggestion(key, names(reflect.TypeOf(v))))
	}
	var dup *yaml.DuplicateKeyError
	if errors.As(err, &dup) || strings.Contains(y.GetMessage(), "already defined") {
		return fmt.Errorf("line %d: duplicate key %q", line, y.GetToken().Value)
	}
	var typ *yaml.TypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("line %d: a value of the wrong type", line)
	}
	return fmt.Errorf("line %d: not valid YAML: %s", line, firstLine(y.GetMessage()))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// names collects the keys of a struct type and of all types in it.
func names(t reflect.Type) []string {
	seen := map[reflect.Type]bool{}
	var out []string
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			walk(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for i := range t.NumField() {
				f := t.Field(i)
				if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "" && key != "-" {
					out = append(out, key)
				}
				walk(f.Type)
			}
		}
	}
	walk(t)
	return out
}

// suggestion names the nearest known key when it is near enough to be meant.
func suggestion(key string, known []string) string {
	if best := Nearest(key, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Nearest returns the name nearest to key, or "" when none is near.
func Nearest(key string, known []string) string {
	best, at := "", len(key)/2+1
	for _, k := range known {
		if d := distance(key, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
