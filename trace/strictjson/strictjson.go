// Package strictjson reads and writes the JSON that Reprise signs and keeps:
// one value has one encoding, and whatever a reader would have to guess at is
// refused.
//
// Encoding is UTF-8 with two-space indent, keys in the order of the struct, no
// HTML escapes and one newline at the end. Decoding refuses unknown keys, keys
// that differ only in case, duplicate keys, trailing data, invalid UTF-8 and
// nesting beyond 64. Errors name the line, from 1, where it is known.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxDepth = 64

// Encode returns the one encoding of v.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Decode reads data into the struct that v points to.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
	}
	if err := checkKeys(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return clean(err, data)
	}
	return nil
}

// clean turns a type error of encoding/json, which quotes Go types, into words
// about the file, and leaves out the value it met.
func clean(err error, data []byte) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("line %d: key %q holds a JSON value of the wrong type", lineAt(data, t.Offset), t.Field)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the JSON ends early")
	}
	if d := (duplicate{}); errors.As(err, &d) {
		return fmt.Errorf("line %d: %w", lineAt(data, d.end), err)
	}
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("line %d: not valid JSON: %w", lineAt(data, s.Offset), err)
	}
	// encoding/json says which key is unknown, and not where it stands.
	if quoted, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		if line := onlyLine(data, quoted); line > 0 {
			return fmt.Errorf("line %d: unknown key %s", line, quoted)
		}
		return fmt.Errorf("unknown key %s", quoted)
	}
	return err
}

// duplicate is a key that stands twice in an object.
type duplicate struct {
	key string
	end int64 // behind the second
}

func (d duplicate) Error() string { return fmt.Sprintf("duplicate key %q", d.key) }

// lineAt is the line of the byte before an offset.
func lineAt(data []byte, offset int64) int {
	at := min(max(int(offset)-1, 0), len(data))
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

// onlyLine is the line of a quoted key, 0 where it stands in several places, of
// which others may be right.
func onlyLine(data []byte, quoted string) (line int) {
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return 0
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n := 0
	value(d, 0, func(key string) {
		if key == name {
			n, line = n+1, lineAt(data, d.InputOffset())
		}
	})
	if n != 1 {
		return 0
	}
	return line
}

// DecodeCanonical is Decode, and also refuses data that Encode would not have
// written for the same value.
func DecodeCanonical(data []byte, v any) error {
	if err := Decode(data, v); err != nil {
		return err
	}
	again, err := Encode(v)
	if err != nil {
		return err
	}
	return Same(again, data)
}

// Same reports where data is not what this build writes for the same value,
// which is again.
func Same(again, data []byte) error {
	if bytes.Equal(again, data) {
		return nil
	}
	return fmt.Errorf("not in its one encoding: line %d differs from what this build writes for the same value", differ(again, data))
}

// differ returns the first line, from 1, on which a and b differ.
func differ(a, b []byte) int {
	line := 1
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

// checkKeys walks the tokens of one JSON value and refuses duplicate keys,
// also those that encoding/json would match to one field by ignoring case.
func checkKeys(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := value(d, 0, nil); err != nil {
		return clean(err, data)
	}
	end := d.InputOffset()
	if _, err := d.Token(); err != io.EOF {
		rest := bytes.TrimLeft(data[end:], " \t\r\n")
		return fmt.Errorf("line %d: data after the end of the JSON value", lineAt(data, int64(len(data)-len(rest)+1)))
	}
	return nil
}

// value walks one value, and calls each, if there is one, behind every key.
func value(d *json.Decoder, depth int, each func(key string)) error {
	if depth > maxDepth {
		return errors.New("nested too deeply")
	}
	t, err := d.Token()
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return object(d, depth, each)
	case json.Delim('['):
		for d.More() {
			if err := value(d, depth+1, each); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	return nil
}

func object(d *json.Decoder, depth int, each func(key string)) error {
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		folded := string(bytes.ToLower([]byte(key)))
		if seen[folded] {
			return duplicate{key, d.InputOffset()}
		}
		seen[folded] = true
		if each != nil {
			each(key)
		}
		if err := value(d, depth+1, each); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
