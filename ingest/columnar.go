package ingest

import (
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// Rows of columnar files become JSON values, so that mappings see one kind of
// row: a struct and a map are objects, a list is an array, an instant is text as
// in ISO 8601, with Z when the file says UTC and without zone when it does not,
// a decimal is a number, and a float that is not finite is null, as tables with
// gaps in whole-number columns hold NaN.

// scribe makes JSON values that live until reset.
type scribe struct {
	arena fastjson.Arena
	buf   []byte
}

func (s *scribe) reset() { s.arena.Reset() }

func (s *scribe) text(b []byte) *fastjson.Value { return s.arena.NewStringBytes(b) }

func (s *scribe) bool(v bool) *fastjson.Value {
	if v {
		return s.arena.NewTrue()
	}
	return s.arena.NewFalse()
}

func (s *scribe) int(v int64) *fastjson.Value {
	return s.arena.NewNumberString(strconv.FormatInt(v, 10))
}

func (s *scribe) uint(v uint64) *fastjson.Value {
	return s.arena.NewNumberString(strconv.FormatUint(v, 10))
}

func (s *scribe) float(v float64, bits int) *fastjson.Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return s.arena.NewNull()
	}
	return s.arena.NewNumberString(strconv.FormatFloat(v, 'g', -1, bits))
}

// maxScale bounds the zeros that a decimal may ask for.
const maxScale = 1000

// decimal is unscaled / 10^scale.
func (s *scribe) decimal(unscaled *big.Int, scale int) *fastjson.Value {
	if scale < -maxScale || scale > maxScale {
		return s.arena.NewNull()
	}
	text := unscaled.String()
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	switch {
	case scale < 0:
		text += strings.Repeat("0", -scale)
	case scale > 0:
		if len(text) <= scale {
			text = strings.Repeat("0", scale+1-len(text)) + text
		}
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	return s.arena.NewNumberString(sign + text)
}

// bigEndian reads a two's complement number.
func bigEndian(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// instant writes v units since 1970, perSecond of which are a second.
func (s *scribe) instant(v, perSecond int64, utc bool) *fastjson.Value {
	sec, rest := v/perSecond, v%perSecond
	if rest < 0 {
		sec, rest = sec-1, rest+perSecond
	}
	at := time.Unix(sec, rest*(1_000_000_000/perSecond)).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return s.arena.NewNull()
	}
	layout := "2006-01-02T15:04:05.999999999"
	if utc {
		layout += "Z"
	}
	s.buf = at.AppendFormat(s.buf[:0], layout)
	return s.text(s.buf)
}

// date writes days since 1970.
func (s *scribe) date(days int64) *fastjson.Value {
	at := time.Unix(days*86400, 0).UTC()
	if days < -800_000 || days > 3_000_000 || at.Year() < 0 || at.Year() > 9999 {
		return s.arena.NewNull()
	}
	s.buf = at.AppendFormat(s.buf[:0], "2006-01-02")
	return s.text(s.buf)
}

// clock writes a time of day.
func (s *scribe) clock(v, perSecond int64) *fastjson.Value {
	if v < 0 || v/perSecond >= 86400 {
		return s.arena.NewNull()
	}
	at := time.Unix(v/perSecond, v%perSecond*(1_000_000_000/perSecond)).UTC()
	s.buf = at.AppendFormat(s.buf[:0], "15:04:05.999999999")
	return s.text(s.buf)
}

// julian writes an instant of 96 bits, as Spark and Impala wrote them: ns of the
// day and the day's Julian number. The file does not say whether it is UTC.
func (s *scribe) julian(low, high, day uint32) *fastjson.Value {
	const epoch = 2440588 // the Julian number of 1970-01-01
	ns := int64(uint64(high)<<32 | uint64(low))
	if days := int64(day) - epoch; ns >= 0 && ns < 86400e9 && days > -100_000 && days < 100_000 {
		return s.instant(days*86_400_000_000_000+ns, 1_000_000_000, false)
	}
	return s.arena.NewNull()
}

// partition is a column that only the path of the file has.
type partition struct{ name, value string }

// partitionsOf reads steps such as date=2026-03-02 of a path.
func partitionsOf(path string) []partition {
	var out []partition
	for step := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		name, value, ok := strings.Cut(step, "=")
		if !ok || name == "" || value == "__HIVE_DEFAULT_PARTITION__" {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		out = append(out, partition{name, value})
	}
	return out
}

// addPartitions sets the columns of the path that the row does not have itself.
func (s *scribe) addPartitions(row *fastjson.Value, parts []partition) {
	for _, p := range parts {
		if !row.Exists(p.name) {
			row.Set(p.name, s.arena.NewString(p.value))
		}
	}
}
