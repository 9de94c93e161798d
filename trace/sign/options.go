package sign

import (
	"errors"
	"fmt"
	"strings"
)

// readOptions reads the comma-separated options at the start of s and returns
// what follows the blanks after them. Names are matched without case; values
// stand in double quotes, in which \" is a quote.
func (e *entry) readOptions(s string) (rest string, err error) {
	for {
		name := strings.ToLower(s[:optionName(s)])
		s = s[len(name):]
		if name == "cert-authority" {
			e.ca = true
		} else if s, err = e.readValue(name, s); err != nil {
			return "", err
		}
		if trimmed := strings.TrimLeft(s, blanks); trimmed != s || s == "" {
			break
		}
		if s[0] != ',' {
			return "", errors.New("option followed by neither comma nor blank")
		}
		s = s[1:]
	}
	if never(e.after, e.before) {
		return "", errors.New("valid-before is not later than valid-after")
	}
	return strings.TrimLeft(s, blanks), nil
}

// optionName returns the length of the option's name at the start of s.
func optionName(s string) int {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && s[i] != '-' {
			return i
		}
	}
	return len(s)
}

// readValue reads ="..." and stores it as the named option.
func (e *entry) readValue(name, s string) (rest string, err error) {
	if name != "namespaces" && name != "valid-after" && name != "valid-before" {
		return "", errors.New("neither a key type nor an option that is known: cert-authority, namespaces, valid-after, valid-before")
	}
	body, ok := strings.CutPrefix(s, `="`)
	if !ok {
		return "", fmt.Errorf("option %s needs a value in double quotes", name)
	}
	value, rest, ok := unquote(body)
	if !ok {
		return "", fmt.Errorf("quote not closed in option %s", name)
	}
	if err := e.setOption(name, value); err != nil {
		return "", fmt.Errorf("option %s: %w", name, err)
	}
	return rest, nil
}

func (e *entry) setOption(name, value string) (err error) {
	slot := &e.after
	switch name {
	case "namespaces":
		if e.namespaces != nil {
			return errors.New("given twice")
		}
		e.namespaces = &value
		return checkPatterns(name, value)
	case "valid-before":
		slot = &e.before
	}
	if *slot != nil {
		return errors.New("given twice")
	}
	*slot, err = parseMoment(value)
	return err
}

// unquote reads up to the closing quote.
func unquote(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte('"')
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}
