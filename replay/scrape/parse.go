package scrape

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Parse reads Prometheus' text format (or OpenMetrics') and calls each for
// every sample whose name want accepts. Labels are as written, without braces.
// Both slices are parts of data. Timestamps and exemplars are not read.
func Parse(data []byte, want func(name []byte) bool, each func(name, labels []byte, value float64)) error {
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		name, labels, value, err := cutSample(line)
		if err != nil {
			return fmt.Errorf("metrics, line %d: %w", n, err)
		}
		if !want(name) {
			continue
		}
		v, err := number(value)
		if err != nil {
			return fmt.Errorf("metrics, line %d: the value is not a number", n)
		}
		each(name, labels, v)
	}
	return nil
}

var errSample = errors.New("not a sample of the Prometheus text format")

// cutSample takes a line apart: name, labels and the word of the value.
func cutSample(line []byte) (name, labels, value []byte, err error) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return nil, nil, nil, errSample
	}
	name, rest := line[:end], line[end:]
	if !validName(name) {
		return nil, nil, nil, errSample
	}
	if rest = bytes.TrimLeft(rest, " \t"); len(rest) > 0 && rest[0] == '{' {
		k := closing(rest)
		if k < 0 {
			return nil, nil, nil, errSample
		}
		labels, rest = rest[1:k], rest[k+1:]
	}
	rest = bytes.TrimLeft(rest, " \t")
	if k := bytes.IndexAny(rest, " \t"); k >= 0 {
		rest = rest[:k]
	}
	if len(rest) == 0 {
		return nil, nil, nil, errSample
	}
	return name, labels, rest, nil
}

func validName(name []byte) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// closing returns the index of the brace that closes the labels, which begin at
// 0, -1 where there is none. A brace inside a value is not one.
func closing(b []byte) int {
	quoted := false
	for i := 1; i < len(b); i++ {
		switch {
		case quoted && b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case !quoted && b[i] == '}':
			return i
		}
	}
	return -1
}

// number reads a value: Go's syntax has all that the format allows, and more
// (hexadecimal, underscores), which is refused.
func number(b []byte) (float64, error) {
	if bytes.ContainsAny(b, "xX_pP") {
		return 0, errSample
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // ±Inf or 0, as any reader of floats has it
	}
	return v, err
}

// Label returns the value of a label in a label set as Parse gives it.
func Label(labels, name string) (value string, ok bool) {
	for labels != "" {
		k, rest, found := strings.Cut(labels, `="`)
		if !found {
			return "", false
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return "", false
		}
		if strings.Trim(k, ", \t") == name {
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(rest[:end]), true
		}
		labels = rest[end+1:]
	}
	return "", false
}

// bound reads the label le of a bucket.
func bound(labels string) (float64, bool) {
	s, ok := Label(labels, "le")
	if !ok {
		return 0, false
	}
	v, err := number([]byte(s))
	return v, err == nil && !math.IsNaN(v)
}
