package notation

import (
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// Lookup follows a path of keys and array positions joined by dots; a key that
// holds dots itself is found too. nil when there is nothing, or null.
func Lookup(v *fastjson.Value, path string) *fastjson.Value {
	for v != nil && path != "" && path != "." {
		if whole := v.Get(path); whole != nil {
			v = whole
			break
		}
		var step string
		step, path, _ = strings.Cut(path, ".")
		v = v.Get(step)
	}
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil
	}
	return v
}

// LookupText is the text of the first path that a row has; numbers count.
func LookupText(v *fastjson.Value, paths ...string) string {
	for _, path := range paths {
		if t := Lookup(v, path); t != nil {
			if t.Type() == fastjson.TypeObject || t.Type() == fastjson.TypeArray {
				continue
			}
			if s := Text(t); s != "" {
				return s
			}
		}
	}
	return ""
}

// List gives a list, also one that is stored as text; nil for anything else.
func List(v *fastjson.Value) []*fastjson.Value {
	if v == nil {
		return nil
	}
	if b, err := v.StringBytes(); err == nil && len(b) > 0 && b[0] == '[' {
		if inner, err := fastjson.ParseBytes(b); err == nil {
			v = inner
		}
	}
	list, err := v.Array()
	if err != nil {
		return nil
	}
	return list
}

// MaxNameDepth is how deep Names looks; mapped paths may go deeper.
const MaxNameDepth = 6

// Names calls add with the paths of what is in a value, of a list by its first
// element, also in JSON that is stored as text.
func Names(v *fastjson.Value, add func(path string)) { nameValue("", v, MaxNameDepth, add) }

func nameValue(prefix string, v *fastjson.Value, depth int, add func(string)) {
	if prefix != "" {
		add(prefix)
	}
	nameInside(prefix, v, depth, add)
}

// nameInside names what is in a value whose own path has been added.
func nameInside(prefix string, v *fastjson.Value, depth int, add func(string)) {
	if depth == 0 {
		return
	}
	join := func(key string) string {
		if prefix == "" {
			return key
		}
		return prefix + "." + key
	}
	switch v.Type() {
	case fastjson.TypeObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, v *fastjson.Value) { nameValue(join(string(key)), v, depth-1, add) })
	case fastjson.TypeArray:
		if list, _ := v.Array(); len(list) > 0 {
			nameValue(join(strconv.Itoa(0)), list[0], depth-1, add)
		}
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		if len(b) > 1 && (b[0] == '{' || b[0] == '[') {
			if inner, err := fastjson.ParseBytes(b); err == nil {
				nameInside(prefix, inner, depth-1, add)
			}
		}
	}
}
