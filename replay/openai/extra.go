package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Extra is what a user adds to the body of every request, those of preflight and
// warm-up included: values in JSON by field.
type Extra map[string]json.RawMessage

// ownBody are the fields that this client writes itself, with what sets them.
var ownBody = map[string]string{
	"model": "--model", "messages": "the trace", "prompt": "the trace", "stream": "the client, which always streams", "stream_options": "the client, which asks for usage",
	"max_tokens": "the trace", "max_completion_tokens": "the trace", "n": "the trace", "ignore_eos": "--ignore-eos", "min_tokens": "--ignore-eos",
	"tools": "the trace", "response_format": "the trace",
}

// ParseExtra reads fields given one by one as NAME=VALUE, the value in JSON or else
// a string, or as JSON objects. It refuses fields given twice and those that the
// trace or other settings decide; temperature and tool_choice replace ours.
func ParseExtra(given []string) (Extra, error) {
	if len(given) == 0 {
		return nil, nil
	}
	out := Extra{}
	for _, text := range given {
		fields, err := extraFields(text)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			if _, twice := out[f.name]; twice {
				return nil, fmt.Errorf("the field %s is given twice", quoted(f.name))
			}
			if by, ours := ownBody[f.name]; ours {
				return nil, fmt.Errorf("the field %s is not extra: it is set by %s", f.name, by)
			}
			out[f.name] = f.value
		}
	}
	return out, nil
}

type extraField struct {
	name  string
	value json.RawMessage
}

func extraFields(text string) ([]extraField, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("an extra field is not valid UTF-8")
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return objectFields([]byte(text))
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return nil, errors.New("an extra field is NAME=VALUE, or a JSON object of fields")
	}
	if !json.Valid([]byte(value)) {
		value = string(quoted(value))
	}
	f, err := compacted(name, json.RawMessage(value))
	return []extraField{f}, err
}

// objectFields takes an object apart by hand: a map would hide a field that is
// there twice.
func objectFields(data []byte) (out []extraField, err error) {
	if !json.Valid(data) {
		return nil, errors.New("the extra fields are no JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		f, err := compacted(fmt.Sprint(name), value)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func compacted(name string, value json.RawMessage) (extraField, error) {
	var b bytes.Buffer
	err := json.Compact(&b, value)
	return extraField{name, b.Bytes()}, err
}

// String is the object of all fields, by name; empty where there is none.
func (e Extra) String() string {
	if len(e) == 0 {
		return ""
	}
	return "{" + strings.TrimPrefix(string(e.append(nil)), ",") + "}"
}

// append writes the fields behind others of an object.
func (e Extra) append(dst []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(e)) {
		dst = append(append(append(dst, ','), quoted(name)...), ':')
		dst = append(dst, e[name]...)
	}
	return dst
}

// Has tells whether a field is the user's.
func (e Extra) Has(name string) bool { _, ok := e[name]; return ok }
