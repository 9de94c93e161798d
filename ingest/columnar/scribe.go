package columnar

import (
	"encoding/hex"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// Rows of columnar files become JSON values, so that mappings see one kind of
// row: a struct and a map are objects, a list is an array, an instant is text as
// in ISO 8601, with Z when the file says UTC and without zone when it does not,
// a decimal is a number, and a float that is not finite is null, as tables with
// gaps in whole-number columns hold NaN.

// scribe writes a row as JSON, which is then parsed like any other.
type scribe struct {
	buf    []byte
	made   int // values of the row
	parser fastjson.Parser
	value  *fastjson.Value
}

// maxValues is how many values a row may have; runs of nulls cost a file nothing.
const maxValues = 1 << 22

func (s *scribe) reset() {
	s.buf = s.buf[:0]
	s.made = 0
	s.value = nil
}

// parse makes the row that was written the current one.
func (s *scribe) parse() *rows.Error {
	if len(s.buf) > rows.MaxBytes {
		s.buf = nil
		return rows.TooLong()
	}
	v, err := s.parser.ParseBytes(s.buf)
	if err != nil {
		return rows.Bad(rows.BadJSON, "")
	}
	s.value = v
	return nil
}

// begin puts a comma before a value that follows another one. It panics, which
// every reader recovers, when a row has too many values or is too long.
func (s *scribe) begin() {
	if s.made++; s.made > maxValues || len(s.buf) > 4*rows.MaxBytes {
		panic("a row has too many values")
	}
	if n := len(s.buf); n > 0 && s.buf[n-1] != '{' && s.buf[n-1] != '[' && s.buf[n-1] != ':' {
		s.buf = append(s.buf, ',')
	}
}

func (s *scribe) open(c byte)  { s.begin(); s.buf = append(s.buf, c) }
func (s *scribe) shut(c byte)  { s.buf = append(s.buf, c) }
func (s *scribe) key(k string) { s.begin(); s.buf = append(notation.AppendString(s.buf, k), ':') }
func (s *scribe) null()        { s.begin(); s.buf = append(s.buf, "null"...) }

func (s *scribe) text(b []byte)  { s.begin(); s.buf = notation.AppendString(s.buf, string(b)) }
func (s *scribe) str(v string)   { s.begin(); s.buf = notation.AppendString(s.buf, v) }
func (s *scribe) bool(v bool)    { s.begin(); s.buf = strconv.AppendBool(s.buf, v) }
func (s *scribe) int(v int64)    { s.begin(); s.buf = strconv.AppendInt(s.buf, v, 10) }
func (s *scribe) uint(v uint64)  { s.begin(); s.buf = strconv.AppendUint(s.buf, v, 10) }
func (s *scribe) hexed(b []byte) { s.str(hex.EncodeToString(b)) }

func (s *scribe) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		s.null()
		return
	}
	s.begin()
	s.buf = strconv.AppendFloat(s.buf, v, 'g', -1, bits)
}

// asKey makes the value that was written from there on the key of another.
func (s *scribe) asKey(from int) {
	text := string(s.buf[from:])
	text = strings.TrimPrefix(text, ",")
	s.buf = s.buf[:from]
	if strings.HasPrefix(text, `"`) {
		s.begin()
		s.buf = append(append(s.buf, text...), ':')
		return
	}
	s.key(text)
}

// maxScale bounds the zeros that a decimal may ask for.
const maxScale = 1000

// decimal is unscaled / 10^scale.
func (s *scribe) decimal(unscaled *big.Int, scale int) {
	if scale < -maxScale || scale > maxScale {
		s.null()
		return
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
	s.begin()
	s.buf = append(append(s.buf, sign...), text...)
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
func (s *scribe) instant(v, perSecond int64, utc bool) {
	sec, rest := v/perSecond, v%perSecond
	if rest < 0 {
		sec, rest = sec-1, rest+perSecond
	}
	s.moment(sec, rest*(1_000_000_000/perSecond), utc)
}

func (s *scribe) moment(sec, ns int64, utc bool) {
	at := time.Unix(sec, ns).UTC()
	if sec < -62167219200 || sec >= 253402300800 { // years 0 to 9999
		s.null()
		return
	}
	layout := "2006-01-02T15:04:05.999999999"
	if utc {
		layout += "Z"
	}
	s.str(at.Format(layout))
}

// date writes days since 1970.
func (s *scribe) date(days int64) {
	at := time.Unix(days*86400, 0).UTC()
	if days < -800_000 || days > 3_000_000 || at.Year() < 0 || at.Year() > 9999 {
		s.null()
		return // no day that a log is of
	}
	s.str(at.Format("2006-01-02"))
}

// clock writes a time of day.
func (s *scribe) clock(v, perSecond int64) {
	if v < 0 || v/perSecond >= 86400 {
		s.null()
		return
	}
	at := time.Unix(v/perSecond, v%perSecond*(1_000_000_000/perSecond)).UTC()
	s.str(at.Format("15:04:05.999999999"))
}

// julian writes an instant of 96 bits, as Spark and Impala wrote them: ns of the
// day and the day's Julian number. The file does not say whether it is UTC.
func (s *scribe) julian(low, high, day uint32) {
	const epoch = 2440588 // the Julian number of 1970-01-01
	ns := int64(uint64(high)<<32 | uint64(low))
	if ns < 0 || ns >= 86400e9 {
		s.null()
		return
	}
	s.moment((int64(day)-epoch)*86400, ns, false)
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

// addPartitions writes the columns of the path that the file does not have
// itself.
func (s *scribe) addPartitions(parts []partition) {
	for _, p := range parts {
		s.key(p.name)
		s.str(p.value)
	}
}
