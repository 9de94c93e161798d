package mock

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reprise/trace/strictyaml"
)

// ParseFaults reads the YAML of a file of faults: one key, faults, with a list
// of them in the order in which they count.
func ParseFaults(data []byte) ([]Fault, error) {
	var file struct {
		Faults []Fault `yaml:"faults"`
	}
	if err := strictyaml.Decode(data, &file); err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	if len(file.Faults) == 0 {
		return nil, errors.New("faults: the file lists none under faults")
	}
	for i := range file.Faults {
		if err := file.Faults[i].Validate(); err != nil {
			return nil, fmt.Errorf("faults: number %d: %w", i+1, err)
		}
	}
	return file.Faults, nil
}

// ParseFault reads a fault in text, such as http_429@n=100-120,retry_after=2.
func ParseFault(text string) (Fault, error) {
	kind, rest, more := strings.Cut(text, "@")
	f := Fault{Kind: kind}
	if more {
		if err := setFields(rest, f.set); err != nil {
			return Fault{}, fmt.Errorf("fault %s: %w", kind, err)
		}
	}
	if err := f.Validate(); err != nil {
		return Fault{}, err
	}
	return f, nil
}

// setFields reads fields such as k=1,2-4,flag,other=x: a piece that begins like
// a number and has no = belongs to the value before it; any other without = is
// a switch.
func setFields(text string, set func(key, value string) error) error {
	var keys, values []string
	for piece := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(piece, "=")
		if !ok && len(keys) > 0 && piece != "" && piece[0] >= '0' && piece[0] <= '9' {
			values[len(values)-1] += "," + piece
			continue
		}
		if !ok {
			value = "true"
		}
		keys, values = append(keys, key), append(values, value)
	}
	seen := map[string]bool{}
	for i, key := range keys {
		if seen[key] {
			return fmt.Errorf("%q is given twice", key)
		}
		seen[key] = true
		if err := set(key, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// setter finds the field of a key; nil when there is none.
type setter map[string]any

// set reads a value into the field of a key.
func (s setter) set(key, value string) error {
	var err error
	switch p := s[key].(type) {
	case nil:
		hint := ""
		if near := strictyaml.Nearest(key, slices.Sorted(maps.Keys(s))); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return fmt.Errorf("unknown key %q%s", key, hint)
	case encoding.TextUnmarshaler:
		err = p.UnmarshalText([]byte(value))
	case *string:
		*p = value
	case *bool:
		*p, err = strconv.ParseBool(value)
	case *int:
		*p, err = strconv.Atoi(value)
	case *float64:
		*p, err = strconv.ParseFloat(value, 64)
	}
	var num *strconv.NumError
	if errors.As(err, &num) {
		err = errors.New("not a value of its type")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (f *Fault) set(key, value string) error { return f.fields().set(key, value) }

func (f *Fault) fields() setter {
	return setter{
		"p": &f.P, "n": &f.N, "t": &f.T, "every": &f.Every, "path": &f.Path, "after": &f.After, "for": &f.For,
		"retry_after": &f.RetryAfter, "retry_date": &f.RetryDate, "rate_limit": &f.RateLimit, "body": &f.Body,
		"message": &f.Message, "tokens": &f.Tokens,
	}
}

// String is the fault in the form that ParseFault reads. A message with a comma
// only a file can hold.
func (f Fault) String() string {
	order := []string{"p", "n", "t", "every", "path", "after", "for", "retry_after", "retry_date", "rate_limit", "body", "message", "tokens"}
	if text := f.fields().text(order); text != "" {
		return f.Kind + "@" + text
	}
	return f.Kind
}

// text writes the fields that are not at their default.
func (s setter) text(order []string) string {
	var parts []string
	add := func(key, value string) { parts = append(parts, key+"="+value) }
	for _, key := range order {
		switch p := s[key].(type) {
		case *string:
			if *p != "" {
				add(key, *p)
			}
		case *bool:
			if *p {
				parts = append(parts, key)
			}
		case *int:
			if *p != 0 {
				add(key, strconv.Itoa(*p))
			}
		case *float64:
			if *p != 0 {
				add(key, strconv.FormatFloat(*p, 'g', -1, 64))
			}
		case *Span:
			if *p != 0 {
				add(key, p.String())
			}
		case fmt.Stringer:
			if v := p.String(); v != "" {
				add(key, v)
			}
		}
	}
	return strings.Join(parts, ",")
}
