package sign

import "strings"

// matchList says whether s matches a pattern list of ssh_config(5): patterns
// with * and ? separated by commas, where a pattern after ! forbids what it
// matches. A list of forbidding patterns alone allows nothing.
func matchList(list, s string) bool {
	found := false
	for p := range strings.SplitSeq(list, ",") {
		p, not := strings.CutPrefix(p, "!")
		if !matchPattern(p, s) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

// matchPattern matches bytes, case included. It keeps only the latest * to
// come back to, so a pattern of many stars costs len(p)*len(s) at most.
func matchPattern(p, s string) bool {
	star, from := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(p[i:], "*") == ""
}
