package sign

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	maxPattern = 1022 // longer ones match nothing in ssh-keygen
	blanks     = " \t"
)

// ParseAllowedSigners reads an allowed_signers file, see ALLOWED SIGNERS in
// ssh-keygen(1): principals, options, key type and key on each line. Where
// ssh-keygen skips a line that it cannot read, this refuses the file, with the
// line's number, since a list that silently lost a line or an option of a line
// says something else than its owner meant.
func ParseAllowedSigners(data []byte) (*AllowedSigners, error) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, errors.New("allowed signers line 1: starts with a byte order mark; save the file as UTF-8 without one")
	}
	a := &AllowedSigners{}
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		n++
		line = strings.Trim(strings.TrimSuffix(line, "\r"), blanks)
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("allowed signers line %d: %w", n, err)
		}
		e.line = n
		a.entries = append(a.entries, *e)
	}
	return a, nil
}

func parseLine(line string) (*entry, error) {
	if strings.ContainsAny(line, "\x00\r") {
		return nil, errors.New("control characters in the line")
	}
	e := &entry{}
	rest, err := e.readPrincipals(line)
	if err != nil {
		return nil, err
	}
	kind, after, ok := cutBlank(rest)
	if !ok {
		return nil, errors.New("key missing; a line is PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	if err := e.readKey(kind, after); err == nil || known(kind) {
		return e, err
	}
	rest, err = e.readOptions(rest)
	if err != nil {
		return nil, err
	}
	kind, after, _ = cutBlank(rest)
	return e, e.readKey(kind, after)
}

// cutBlank splits at the first run of blanks.
func cutBlank(s string) (word, rest string, found bool) {
	i := strings.IndexAny(s, blanks)
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeft(s[i:], blanks), true
}

// readPrincipals reads the first field, which may be in double quotes.
func (e *entry) readPrincipals(line string) (rest string, err error) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		e.principals, rest, ok = strings.Cut(quoted, `"`)
		if !ok {
			return "", errors.New("quote not closed in the principals")
		}
		if strings.TrimLeft(rest, blanks) == rest {
			return "", errors.New("no blank after the quoted principals")
		}
	} else if e.principals, rest, _ = cutBlank(line); strings.Contains(e.principals, `"`) {
		return "", errors.New("quote in the middle of the principals; quote the whole field")
	}
	if strings.Trim(e.principals, ",") == "" {
		return "", errors.New("principals are empty")
	}
	return strings.TrimLeft(rest, blanks), checkPatterns("principals", e.principals)
}

func checkPatterns(field, list string) error {
	for p := range strings.SplitSeq(list, ",") {
		if len(p) > maxPattern {
			return fmt.Errorf("pattern longer than %d bytes in the %s", maxPattern, field)
		}
	}
	return nil
}

// readKey reads base64, and a comment after it. The type inside must be the
// one outside; keys of a type that Verify refuses are kept, so that one such
// line does not spoil a list.
func (e *entry) readKey(kind, rest string) error {
	text, _, _ := cutBlank(strings.TrimLeft(rest, blanks))
	blob, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || text == "" {
		return errors.New("key is not base64, or cut short")
	}
	w := wire{b: blob}
	if inner := string(w.str()); w.bad || inner != kind || !printable(kind) {
		return errors.New("key type outside differs from the one inside the key")
	}
	if known(kind) {
		if _, err := parseKey(blob); err != nil {
			return errors.New("key is damaged")
		}
	}
	e.keyType, e.key = kind, blob
	return nil
}
