package notation

import "github.com/valyala/fastjson"

// The limits of attributes; a span has a few hundred at most.
const (
	maxAttributes = 1 << 16
	maxAnyDepth   = 32
)

// Pairs calls add with every attribute of a list of {key, value} pairs, as OTLP
// writes them, or of an object. Values may be wrapped in their type.
func Pairs(v *fastjson.Value, add func(key string, v *fastjson.Value)) {
	switch v.Type() {
	case fastjson.TypeArray:
		for i, kv := range v.GetArray() {
			if key := kv.GetStringBytes("key"); key != nil && i < maxAttributes {
				if value := kv.Get("value"); value != nil {
					add(string(key), value)
				}
			}
		}
	case fastjson.TypeObject:
		o, _ := v.Object()
		i := 0
		o.Visit(func(key []byte, v *fastjson.Value) {
			if i++; i <= maxAttributes {
				add(string(key), v)
			}
		})
	}
}

// Plain takes the type off an attribute's value: {"stringValue": "x"} is "x".
func (n *Decoder) Plain(v *fastjson.Value) *fastjson.Value {
	inner, kind := typed(v)
	switch kind {
	case 0:
		return v
	case 's':
		return inner
	}
	n.buf = appendAny(n.buf[:0], v, 0)
	if out := n.parse(string(n.buf)); out != nil {
		return out
	}
	return v
}

// typed tells whether a value is wrapped in its type: 's' a scalar, 'l' a list,
// 'o' an object, 0 not at all.
func typed(v *fastjson.Value) (*fastjson.Value, byte) {
	if v.Type() != fastjson.TypeObject {
		return v, 0
	}
	o, _ := v.Object()
	if o.Len() != 1 {
		return v, 0
	}
	inner, kind := v, byte(0)
	o.Visit(func(key []byte, v *fastjson.Value) {
		switch string(key) {
		case "stringValue", "intValue", "doubleValue", "boolValue", "bytesValue",
			"string_value", "int_value", "double_value", "bool_value":
			inner, kind = v, 's'
		case "arrayValue", "array_value":
			inner, kind = v, 'l'
		case "kvlistValue", "kvlist_value":
			inner, kind = v, 'o'
		}
	})
	return inner, kind
}

// appendAny writes a value without its types.
func appendAny(dst []byte, v *fastjson.Value, depth int) []byte {
	inner, kind := typed(v)
	if depth > maxAnyDepth {
		return append(dst, "null"...)
	}
	switch kind {
	case 's':
		return AppendValue(dst, inner)
	case 'l':
		dst = append(dst, '[')
		for i, e := range inner.GetArray("values") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAny(dst, e, depth+1)
		}
		return append(dst, ']')
	case 'o':
		dst = append(dst, '{')
		for i, kv := range inner.GetArray("values") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, String(kv.GetStringBytes("key"))), ':')
			if value := kv.Get("value"); value != nil {
				dst = appendAny(dst, value, depth+1)
			} else {
				dst = append(dst, "null"...)
			}
		}
		return append(dst, '}')
	}
	return AppendValue(dst, v)
}
