package columnar

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"reprise/ingest/rows"
)

// Blocks of LZ4 by hand, after the format's description.
func TestLZ4Length(t *testing.T) {
	for block, want := range map[string]int64{
		"\x30abc":                      3,
		"\x00":                         0,
		"\x34abc\x03\x00\x20xy":        13, // 3 literals, 8 copied, 2 literals
		"\xf0\x00" + "123456789012345": 15,
		"\x3fabc\x01\x00\xff\x00\x10x": 3 + 15 + 255 + 4 + 1,
		"":                             -1,
		"\x34abc\x03\x00":              -1, // ends with a copy
		"\x34abc\x04\x00\x20xy":        -1, // copies from before the start
		"\x34abc\x00\x00\x20xy":        -1,
		"\x50abc":                      -1,
		"\x31abc":                      -1, // a copy without a place
		"\xf0\xff":                     -1,
	} {
		if got := lz4Length([]byte(block)); got != want {
			t.Errorf("%q: %d, want %d", block, got, want)
		}
	}
}

// Lengths that reach beyond a message are seen before they are believed.
func TestThriftStruct(t *testing.T) {
	good := []byte("\x15\x02\x18\x03abc\x19\x25\x02\x04\x1c\x15\x02\x00\x00rest")
	if n, err := thriftStruct(good, 10); err != nil || n != len(good)-4 {
		t.Fatal(n, err)
	}
	for text, want := range map[string]error{
		"\x15":                              errThriftShort,
		"\x18\x7fabc\x00":                   errThriftShort,
		"\x19\xf5\xff\xff\xff\x7f\x00":      errThrift, // a list of 2^28
		"\x19\x35\x02\x04":                  errThriftShort,
		"\x1d\x00":                          errThrift,
		strings.Repeat("\x1c", 100):         errThrift,
		"\x15" + strings.Repeat("\xff", 11): errThrift,
	} {
		if _, err := thriftStruct([]byte(text), 10); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Every byte of the description of an Arrow file is turned, one by one, and
// nothing is trusted.
func TestArrowFlips(t *testing.T) {
	data := readFile(t, "../../testdata/columnar/more.arrows")
	size := binary.LittleEndian.Uint32(data[4:])
	for i := range int(size) + 8 {
		for _, flip := range []byte{0xff, 0x01} {
			broken := append([]byte(nil), data...)
			broken[i] ^= flip
			r, err := arrowStream("f", strings.NewReader(string(broken)))
			if err != nil {
				continue
			}
			exhaust(t, r)
			r.(rows.Closer).Close()
		}
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		bytes string
		scale int
		want  string
	}{{"\x00\x00\x08\x34", 6, "0.002100"}, {"\xff\xff\xff\xff", 2, "-0.01"}, {"\x7f", 0, "127"}, {"\x80", 0, "-128"},
		{"\x01", -3, "1000"}, {"\x01", 2000, "null"}} {
		var s scribe
		s.decimal(bigEndian([]byte(c.bytes)), c.scale)
		if got := string(s.buf); got != c.want {
			t.Errorf("%q/%d: %s, want %s", c.bytes, c.scale, got, c.want)
		}
	}
	if bigEndian(nil).Cmp(big.NewInt(0)) != 0 {
		t.Error("no bytes are zero")
	}
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: math.Ldexp(1, -24), 0x7c00: math.Inf(1), 0: 0} {
		if got := half(bits); got != want {
			t.Errorf("%x: %v, want %v", bits, got, want)
		}
	}
	if !math.IsNaN(half(0x7e00)) {
		t.Error("NaN")
	}
}
