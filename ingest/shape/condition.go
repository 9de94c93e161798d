package shape

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
)

// condition is "path", which a row must have, "path=text", or "path!=text",
// which holds without the path too; with & between them all must hold.
type condition string

func (c condition) holds(v *fastjson.Value) bool {
	for one := range strings.SplitSeq(string(c), "&") {
		if !holds(v, one) {
			return false
		}
	}
	return true
}

func holds(v *fastjson.Value, c string) bool {
	path, want, equal := strings.Cut(c, "=")
	if not, ok := strings.CutSuffix(path, "!"); ok && equal {
		return !holds(v, not+"="+want)
	}
	t := notation.Lookup(v, path)
	if t == nil || !equal {
		return t != nil
	}
	if t.Type() == fastjson.TypeString {
		b, _ := t.StringBytes()
		return string(b) == want
	}
	return notation.Text(t) == want
}

// conditions hold when any of them does.
type conditions []condition

func (cs conditions) any(v *fastjson.Value) bool {
	for _, c := range cs {
		if c.holds(v) {
			return true
		}
	}
	return false
}
