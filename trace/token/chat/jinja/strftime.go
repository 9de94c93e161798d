package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats the rendering's time as Python's datetime.strftime does in
// the C locale.
func (s *state) strftime(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := true
		if format[i] == '-' && i+1 < len(format) {
			pad = false
			i++
		}
		text, ok := timeField(s.now, format[i])
		if !ok {
			s.fail("strftime_now with %%%c is not supported", format[i])
		}
		if !pad && len(text) > 1 {
			text = strings.TrimLeft(text[:len(text)-1], "0 ") + text[len(text)-1:]
		}
		b.WriteString(text)
	}
	s.made(b.Len())
	return b.String()
}

func timeField(t time.Time, c byte) (string, bool) {
	layouts := map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'd': "02", 'H': "15", 'I': "03", 'm': "01",
		'M': "04", 'p': "PM", 'S': "05", 'y': "06", 'Y': "2006", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04",
		'e': "_2", 'h': "Jan", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05"}
	if layout, ok := layouts[c]; ok {
		return t.Format(layout), true
	}
	switch c {
	case '%':
		return "%", true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'z', 'Z':
		return "", true // Python's for a time without a zone
	}
	return "", false
}
