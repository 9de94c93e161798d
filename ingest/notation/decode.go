package notation

import (
	"strings"

	"github.com/valyala/fastjson"
)

// Decoder holds the parsers of values inside strings; values live as long as the
// row.
type Decoder struct {
	parsers []*fastjson.Parser
	used    int
	buf     []byte
}

// maxUnwrap is how often JSON is unpacked of a JSON string: exporters do it
// twice.
const maxUnwrap = 3

// Reset forgets the values of the row before.
func (n *Decoder) Reset() { n.used = 0 }

// parse reads one JSON value, nil when s is none.
func (n *Decoder) parse(s string) *fastjson.Value {
	if n.used == len(n.parsers) {
		n.parsers = append(n.parsers, &fastjson.Parser{})
	}
	v, err := n.parsers[n.used].Parse(s)
	if err != nil {
		return nil
	}
	n.used++
	return v
}

// Decode reads a list or object that is kept as text: JSON, JSON in a JSON
// string, the events of a stream, one JSON value after the other, or what
// Python's repr makes of them. nil for any other text.
func (n *Decoder) Decode(s string) *fastjson.Value {
	for range maxUnwrap {
		if s = trimBlank(s); s == "" {
			return nil
		}
		switch s[0] {
		case '{', '[':
			if v := n.parse(s); v != nil {
				return v
			}
			if v := n.values(s); v != nil {
				return v
			}
			return n.python(s)
		case '"':
			if s[len(s)-1] != '"' || len(s) < 4 {
				return nil
			}
			v := n.parse(s)
			if v == nil || v.Type() != fastjson.TypeString {
				return nil
			}
			s = string(v.GetStringBytes())
		case 'd', 'e', 'i', ':':
			return n.events(s)
		default:
			return nil
		}
	}
	return nil
}

func trimBlank(s string) string {
	if s == "" || (s[0] > ' ' && s[len(s)-1] > ' ') {
		return s
	}
	return strings.Trim(s, " \t\r\n")
}

// python reads the repr of a Python value.
func (n *Decoder) python(s string) *fastjson.Value {
	out, ok := Python(n.buf[:0], s)
	n.buf = out[:0]
	if !ok {
		return nil
	}
	return n.parse(string(out))
}

// events reads a stream of server-sent events as the list of their data. Lines
// that are no JSON, such as [DONE], are left out.
func (n *Decoder) events(s string) *fastjson.Value {
	if !strings.HasPrefix(s, "data:") && !strings.HasPrefix(s, "event:") && !strings.HasPrefix(s, "id:") && s[0] != ':' {
		return nil
	}
	out, found := append(n.buf[:0], '['), false
	for line := range strings.SplitSeq(s, "\n") {
		data, ok := strings.CutPrefix(line, "data:")
		if data = strings.TrimSpace(data); !ok || data == "" || data[0] != '{' || fastjson.Validate(data) != nil {
			continue
		}
		if found {
			out = append(out, ',')
		}
		out, found = append(out, data...), true
	}
	out = append(out, ']')
	n.buf = out[:0]
	if !found {
		return nil
	}
	return n.parse(string(out))
}

// values reads several JSON values, each on its own line, as a list.
func (n *Decoder) values(s string) *fastjson.Value {
	if s[0] != '{' || !strings.Contains(s, "\n") {
		return nil
	}
	out := append(n.buf[:0], '[')
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if line[0] != '{' || fastjson.Validate(line) != nil {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, line...)
	}
	out = append(out, ']')
	n.buf = out[:0]
	return n.parse(string(out))
}
