package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func dictMethod(name string, d *Dict) any {
	switch name {
	case "items":
		return callable(func(s *state, _ args) any { return dictItems(s, d) })
	case "keys":
		return callable(func(s *state, _ args) any { return &List{Items: d.keys, once: true} })
	case "values":
		return callable(func(s *state, _ args) any { return &List{Items: d.values, once: true} })
	case "copy":
		return callable(func(s *state, _ args) any { return newDict(s, args{list: []any{d}}) })
	case "get":
		return callable(func(s *state, a args) any {
			k, ok := a.take(0, "key")
			if !ok {
				s.fail("get wants a key")
			}
			if v, ok := d.Get(k); ok {
				return v
			}
			v, _ := a.take(1, "default")
			return v
		})
	}
	return nil
}

func dictItems(s *state, d *Dict) any {
	s.made(64 * len(d.keys))
	s.step(len(d.keys))
	out := make([]any, len(d.keys))
	for i, k := range d.keys {
		out[i] = &List{Items: []any{k, d.values[i]}, Tuple: true}
	}
	return &List{Items: out, once: true}
}

func listMethod(name string, l *List) any {
	switch name {
	case "count":
		return callable(func(s *state, a args) any {
			n := int64(0)
			for _, v := range l.Items {
				if s.equal(v, s.arg(a)) {
					n++
				}
			}
			return n
		})
	case "index":
		return callable(func(s *state, a args) any {
			for i, v := range l.Items {
				if s.equal(v, s.arg(a)) {
					return int64(i)
				}
			}
			s.fail("index of what is not in the list")
			return nil
		})
	}
	return nil
}

// stringMethod returns a method of Python's str, nil when there is none here.
func stringMethod(name, v string) any {
	if f := stringMap(name); f != nil {
		return callable(func(s *state, _ args) any {
			out := f(v)
			s.made(len(out))
			return out
		})
	}
	if f := stringIs(name); f != nil {
		return callable(func(s *state, _ args) any { s.step(len(v) / 64); return f(v) })
	}
	if f := stringCall(name); f != nil {
		return callable(func(s *state, a args) any { return f(s, v, a) })
	}
	return nil
}

func stringMap(name string) func(string) string {
	switch name {
	case "upper":
		return upper
	case "lower", "casefold":
		return lower
	case "title":
		return pythonTitle
	case "capitalize":
		return capitalize
	case "swapcase":
		return func(v string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsUpper(r) {
					return unicode.ToLower(r)
				}
				return unicode.ToUpper(r)
			}, v)
		}
	}
	return nil
}

func capitalize(v string) string {
	_, n := utf8.DecodeRuneInString(v)
	return strings.ToTitle(v[:n]) + lower(v[n:])
}

// pythonTitle is str.title: a letter after no letter is large, any other small.
func pythonTitle(v string) string {
	after := false
	return strings.Map(func(r rune) rune {
		inside := after
		after = unicode.IsLetter(r)
		if inside {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}, v)
}

func stringIs(name string) func(string) any {
	all := func(is func(rune) bool) func(string) any {
		return func(v string) any {
			return v != "" && strings.IndexFunc(v, func(r rune) bool { return !is(r) }) < 0
		}
	}
	switch name {
	case "isdigit", "isdecimal", "isnumeric":
		return all(unicode.IsDigit)
	case "isalpha":
		return all(unicode.IsLetter)
	case "isalnum":
		return all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case "isspace":
		return all(unicode.IsSpace)
	case "islower":
		return func(v string) any { return cased(v, lower) }
	case "isupper":
		return func(v string) any { return cased(v, upper) }
	}
	return nil
}

func stringCall(name string) func(s *state, v string, a args) any {
	switch name {
	case "strip":
		return func(s *state, v string, a args) any { return strip(s, v, a, true, true) }
	case "lstrip":
		return func(s *state, v string, a args) any { return strip(s, v, a, true, false) }
	case "rstrip":
		return func(s *state, v string, a args) any { return strip(s, v, a, false, true) }
	case "split":
		return func(s *state, v string, a args) any { return split(s, v, a, false) }
	case "rsplit":
		return func(s *state, v string, a args) any { return split(s, v, a, true) }
	case "splitlines":
		return splitLines
	case "partition", "rpartition":
		return func(s *state, v string, a args) any { return partition(s, v, a, name == "rpartition") }
	case "startswith":
		return func(s *state, v string, a args) any { return affix(s, v, a, strings.HasPrefix) }
	case "endswith":
		return func(s *state, v string, a args) any { return affix(s, v, a, strings.HasSuffix) }
	case "removeprefix":
		return func(s *state, v string, a args) any { return strings.TrimPrefix(v, a.text(s, 0, "prefix", "")) }
	case "removesuffix":
		return func(s *state, v string, a args) any { return strings.TrimSuffix(v, a.text(s, 0, "suffix", "")) }
	case "replace":
		return func(s *state, v string, a args) any {
			return replace(s, v, a.text(s, 0, "old", ""), a.text(s, 1, "new", ""), a.int(s, 2, "count", -1))
		}
	case "join":
		return func(s *state, v string, a args) any { return join(s, s.iterate(s.arg(a)), v, true) }
	case "find", "index", "rfind", "rindex":
		return func(s *state, v string, a args) any {
			return find(s, v, a, name[0] == 'r', strings.HasSuffix(name, "index"))
		}
	case "count":
		return func(s *state, v string, a args) any {
			s.step(len(v) / 64)
			return int64(strings.Count(v, a.text(s, 0, "sub", "")))
		}
	case "format":
		return func(s *state, v string, a args) any { return s.braces(v, a) }
	case "zfill", "ljust", "rjust", "center":
		return func(s *state, v string, a args) any { return justify(s, name, v, a) }
	}
	return nil
}

// strip is str.strip with the characters to strip as optional argument.
func strip(s *state, v string, a args, left, right bool) any {
	s.step(len(v) / 256)
	is := unicode.IsSpace
	if set, ok := a.take(0, "chars"); ok && set != nil {
		chars := a.text(s, 0, "chars", "")
		is = func(r rune) bool { return strings.ContainsRune(chars, r) }
	} else {
		is = pythonSpace
	}
	if left {
		v = strings.TrimLeftFunc(v, is)
	}
	if right {
		v = strings.TrimRightFunc(v, is)
	}
	return v
}

// pythonSpace is str.isspace: Go's white space and the separators of ASCII.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func split(s *state, v string, a args, fromRight bool) any {
	most := a.int(s, 1, "maxsplit", -1)
	s.step(len(v) / 64)
	var parts []string
	if sep, ok := a.take(0, "sep"); ok && sep != nil {
		mark := a.text(s, 0, "sep", "")
		if mark == "" {
			s.fail("split by an empty string")
		}
		parts = splitBy(v, mark, most, fromRight)
	} else {
		parts = splitSpace(v, most, fromRight)
	}
	s.made(16*len(parts) + len(v))
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return &List{Items: out}
}

func splitBy(v, mark string, most int64, fromRight bool) []string {
	all := strings.Split(v, mark)
	if most < 0 || int64(len(all)) <= most+1 {
		return all
	}
	n := int(most)
	if fromRight {
		k := len(all) - n
		return append([]string{strings.Join(all[:k], mark)}, all[k:]...)
	}
	return append(all[:n:n], strings.Join(all[n:], mark))
}

func splitSpace(v string, most int64, fromRight bool) []string {
	if most < 0 {
		return strings.FieldsFunc(v, pythonSpace)
	}
	var out []string
	if fromRight {
		for v = strings.TrimRightFunc(v, pythonSpace); v != ""; most-- {
			i := strings.LastIndexFunc(v, pythonSpace)
			if most == 0 || i < 0 {
				out = append(out, v)
				break
			}
			_, n := utf8.DecodeRuneInString(v[i:])
			out = append(out, v[i+n:])
			v = strings.TrimRightFunc(v[:i], pythonSpace)
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
		return out
	}
	for v = strings.TrimLeftFunc(v, pythonSpace); v != ""; most-- {
		i := strings.IndexFunc(v, pythonSpace)
		if most == 0 || i < 0 {
			return append(out, v)
		}
		out = append(out, v[:i])
		v = strings.TrimLeftFunc(v[i:], pythonSpace)
	}
	return out
}

// splitLines cuts at the line ends that str.splitlines knows.
func splitLines(s *state, v string, a args) any {
	keep := a.bool(0, "keepends", false)
	s.step(len(v) / 64)
	var out []any
	for v != "" {
		i := strings.IndexFunc(v, func(r rune) bool {
			return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		if i < 0 {
			out = append(out, v)
			break
		}
		_, n := utf8.DecodeRuneInString(v[i:])
		if strings.HasPrefix(v[i:], "\r\n") {
			n = 2
		}
		if keep {
			out = append(out, v[:i+n])
		} else {
			out = append(out, v[:i])
		}
		s.made(16)
		v = v[i+n:]
	}
	return &List{Items: out}
}

func partition(s *state, v string, a args, fromRight bool) any {
	mark := a.text(s, 0, "sep", "")
	i := strings.Index(v, mark)
	if fromRight {
		i = strings.LastIndex(v, mark)
	}
	out := []any{v, "", ""}
	switch {
	case mark == "":
		s.fail("partition by an empty string")
	case i >= 0:
		out = []any{v[:i], mark, v[i+len(mark):]}
	case fromRight:
		out = []any{"", "", v}
	}
	return &List{Items: out, Tuple: true}
}

func affix(s *state, v string, a args, has func(string, string) bool) any {
	list := []any{s.arg(a)}
	if l, ok := list[0].(*List); ok {
		list = l.Items
	}
	for _, x := range list {
		if p, ok := bare(x).(string); !ok {
			s.fail("%s is no prefix or suffix", typeName(x))
		} else if has(v, p) {
			return true
		}
	}
	return false
}

func replace(s *state, v, old, with string, most int64) any {
	n := strings.Count(v, old)
	s.step(len(v) / 64)
	if most >= 0 {
		n = int(min(int64(n), most))
	}
	if n > 0 && len(with) > s.limits.Bytes/n {
		s.limit("bytes", s.limits.Bytes)
	}
	s.made(len(v) + n*len(with))
	return strings.Replace(v, old, with, n)
}

func find(s *state, v string, a args, last, must bool) any {
	s.step(len(v) / 64)
	i := strings.Index(v, a.text(s, 0, "sub", ""))
	if last {
		i = strings.LastIndex(v, a.text(s, 0, "sub", ""))
	}
	if i < 0 && must {
		s.fail("index of what is not in the string")
	}
	if i < 0 {
		return int64(-1)
	}
	return int64(utf8.RuneCountInString(v[:i]))
}

func justify(s *state, how, v string, a args) any {
	n := a.int(s, 0, "width", 0) - int64(utf8.RuneCountInString(v))
	fill := a.text(s, 1, "fillchar", " ")
	if n <= 0 {
		return v
	}
	switch how {
	case "ljust":
		return v + s.repeat(fill, n)
	case "rjust":
		return s.repeat(fill, n) + v
	case "zfill":
		if v != "" && (v[0] == '-' || v[0] == '+') {
			return v[:1] + s.repeat("0", n) + v[1:]
		}
		return s.repeat("0", n) + v
	}
	// str.center puts the odd character on the left where the width is odd.
	left := n/2 + n&(n+int64(utf8.RuneCountInString(v)))&1
	return s.repeat(fill, left) + v + s.repeat(fill, n-left)
}
