// Package strictjson reads and writes the JSON that Reprise signs and keeps:
// one value has one encoding, and whatever a reader would have to guess at is
// refused.
//
// Encoding is UTF-8 with two-space indent, keys in the order of the struct, no
// HTML escapes and one newline at the end. Decoding refuses unknown keys, keys
// that differ only in case, duplicate keys, trailing data, invalid UTF-8 and
// nesting beyond 64.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		return clean(err)
	}
	return nil
}

// clean turns a type error of encoding/json, which quotes Go types, into words
// about the file, and leaves out the value it met.
func clean(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("key %q holds a JSON value of the wrong type (byte %d)", t.Field, t.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the JSON ends early")
	}
	return err
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
	if err := value(d, 0); err != nil {
		return clean(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("data after the end of the JSON value")
	}
	return nil
}

func value(d *json.Decoder, depth int) error {
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
		return object(d, depth)
	case json.Delim('['):
		for d.More() {
			if err := value(d, depth+1); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	return nil
}

func object(d *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		folded := string(bytes.ToLower([]byte(key)))
		if seen[folded] {
			return fmt.Errorf("duplicate key %q", key)
		}
		seen[folded] = true
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
