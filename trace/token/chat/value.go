package chat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/trace/token/chat/jinja"
)

// Decode makes a template's value of JSON; keys keep their order. Its error does
// not quote the text.
func Decode(text string) (any, error) {
	var p fastjson.Parser
	v, err := p.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%d bytes are not JSON", len(text))
	}
	return fromJSON(v), nil
}

// fromJSON copies a parsed value, whose depth the parser bounds.
func fromJSON(v *fastjson.Value) any {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return strings.ToValidUTF8(string(b), "\uFFFD")
	case fastjson.TypeTrue:
		return true
	case fastjson.TypeFalse:
		return false
	case fastjson.TypeNumber:
		return numberOf(string(v.MarshalTo(nil)))
	case fastjson.TypeArray:
		list, _ := v.Array()
		out := &jinja.List{Items: make([]any, len(list))}
		for i, x := range list {
			out.Items[i] = fromJSON(x)
		}
		return out
	case fastjson.TypeObject:
		o, _ := v.Object()
		out := &jinja.Dict{}
		o.Visit(func(key []byte, x *fastjson.Value) {
			out.Set(strings.ToValidUTF8(string(key), "\uFFFD"), fromJSON(x))
		})
		return out
	}
	return nil
}

// numberOf is an integer where Python's json makes one, else a float.
func numberOf(text string) any {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

// dict makes a dict of names and values in turn.
func dict(pairs ...any) *jinja.Dict {
	d := &jinja.Dict{}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}
