package jinja

import (
	"fmt"
	"strconv"
	"strings"
)

// percent is Python's string % values, for the common conversions.
func (s *state) percent(format string, v any) any {
	var values []any
	d, byName := v.(*Dict)
	if l, ok := v.(*List); ok && l.Tuple {
		values = l.Items
	} else {
		values = []any{v}
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i < len(format) && format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		var x any
		if i < len(format) && format[i] == '(' && byName {
			end := strings.IndexByte(format[i:], ')')
			if end < 0 {
				s.fail("a format without its end")
			}
			x, _ = d.Get(format[i+1 : i+end])
			i += end + 1
		} else {
			if len(values) == 0 {
				s.fail("a format with fewer values than it needs")
			}
			x, values = values[0], values[1:]
		}
		from := i
		for i < len(format) && strings.IndexByte("0123456789.+-# ", format[i]) >= 0 {
			i++
		}
		if i == len(format) || i-from > 6 {
			s.fail("a format without its end")
		}
		s.conversion(&b, format[from:i], format[i], x)
		s.room(b.Len())
	}
	s.made(b.Len())
	return b.String()
}

// conversion writes one value by flags, width and precision.
func (s *state) conversion(b *strings.Builder, flags string, c byte, x any) {
	if w, err := strconv.Atoi(strings.SplitN(strings.Trim(flags, "+-# 0"), ".", 2)[0]); err == nil {
		s.room(w)
	}
	i, f, float, isNumber := number(x)
	switch {
	case c == 's':
		fmt.Fprintf(b, "%"+flags+"s", s.str(x))
	case c == 'r':
		var r strings.Builder
		s.repr(&r, x)
		fmt.Fprintf(b, "%"+flags+"s", r.String())
	case (c == 'd' || c == 'i') && isNumber:
		if float {
			i = int64(f)
		}
		fmt.Fprintf(b, "%"+flags+"d", i)
	case (c == 'x' || c == 'X' || c == 'o') && isNumber && !float:
		fmt.Fprintf(b, "%"+flags+string(c), i)
	case strings.IndexByte("feEgG", c) >= 0 && isNumber:
		fmt.Fprintf(b, "%"+flags+string(c), f)
	default:
		s.fail("a format %%%c of %s", c, typeName(x))
	}
}

// braces is str.format for {}, {0} and {name} without a format of their own.
func (s *state) braces(format string, a args) any {
	var b strings.Builder
	auto := 0
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '{' && c != '}' {
			b.WriteByte(c)
			continue
		}
		if i+1 < len(format) && format[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(format[i:], '}')
		if c == '}' || end < 0 {
			s.fail("a format without its bracket")
		}
		name := format[i+1 : i+end]
		at, err := strconv.Atoi(name)
		if name == "" {
			at, err = auto, nil
			auto++
		}
		if err != nil {
			at = -1
		}
		v, ok := a.take(at, name)
		if !ok {
			s.fail("str.format with what it has no value for")
		}
		b.WriteString(s.str(v))
		s.room(b.Len())
		i += end
	}
	s.made(b.Len())
	return b.String()
}
