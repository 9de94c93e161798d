package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Errors and notes list the names of columns and never a value. What stands
// where names do may be a value all the same: the first row of a file without a
// header, and the keys of an object that maps values to something.

// maxListed is how many names an error lists.
const maxListed = 25

// list gives the columns seen, at most two steps deep. What does not look like
// a name is counted, and so is a whole header under which no row has a number
// or a time: it is no log, or the header is missing.
func (s *seen) list() string {
	if s.header && !s.counted {
		return "none that are names (is the header row missing?)"
	}
	if s.numbered() {
		return fmt.Sprintf("#1 to #%d, as the first row is no header (is the header row missing?)", len(s.names))
	}
	var out []string
	hidden := 0
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		switch {
		case strings.Count(name, ".") > 1 && !s.header:
		case !looksLikeName(name) || len(out) == maxListed:
			hidden++
		default:
			out = append(out, name)
		}
	}
	switch {
	case hidden > 0 && len(out) == 0:
		return fmt.Sprintf("%d whose names may be values and are not shown", hidden)
	case hidden > 0:
		out = append(out, fmt.Sprintf("and %d that are not listed", hidden))
	case len(out) == 0:
		return "none"
	}
	return strings.Join(out, ", ")
}

// numbered says that the columns of a table have no names.
func (s *seen) numbered() bool { return s.header && s.names["#1"] > 0 }

// showable says that all steps of a path look like names.
func showable(path string) bool {
	for step := range strings.SplitSeq(path, ".") {
		number := step != "" && strings.Trim(step, "0123456789") == "" && len(step) <= 3
		if step != "*" && step != "^" && !number && !looksLikeName(step) {
			return false
		}
	}
	return true
}

// maxSolid is the longest run of letters and digits, and maxDigits of digits, of
// a name; keys and account numbers have longer ones.
const (
	maxSolid  = 20
	maxDigits = 4
)

// looksLikeName accepts identifiers and short titles, such as "Request tokens"
// and "Latency (ms)", in any script.
func looksLikeName(s string) bool {
	runes := []rune(s)
	if len(runes) == 0 || len(runes) > 40 || strings.Count(s, " ") > 2 || unicode.IsDigit(runes[0]) {
		return false
	}
	solid, digits := 0, 0
	for i, r := range runes {
		switch {
		case unicode.IsDigit(r):
			solid, digits = solid+1, digits+1
		case unicode.IsLetter(r) || unicode.IsMark(r):
			if unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]) {
				solid = 0 // camelCase
			}
			solid, digits = solid+1, 0
		case strings.ContainsRune("_-. /:()[]%$#°µ€£", r):
			solid, digits = 0, 0
		default:
			return false
		}
		if solid > maxSolid || digits > maxDigits {
			return false
		}
	}
	return true
}
