package scalar

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	// 2024-03-27T12:22:59.485461Z in every clock; ticks as in a real Azure OpenAI log.
	for _, c := range []struct {
		in, unit string
		us       int64
		relative bool
		naive    bool
	}{
		{"1712578979", "", 1712578979000000, false, false},
		{"1712578979.485", "", 1712578979485000, false, false},
		{"1712578979.4854619", "", 1712578979485461, false, false},
		{"1.712578979485e9", "", 1712578979485000, false, false},
		{"1712578979485", "", 1712578979485000, false, false},
		{"1712578979485.5", "", 1712578979485500, false, false},
		{"1712578979485461", "", 1712578979485461, false, false},
		{"1712578979485461999", "", 1712578979485461, false, false},
		{"638481757794854611", "", 1712578979485461, false, false}, // 2024-04-08T12:22:59.4854611Z
		{"638481757794854611", "ticks", 1712578979485461, false, false},
		{"1712578979485", "ms", 1712578979485000, false, false},
		{"3000", "ms", 3000000, true, false},
		{"3000", "", 3000000000, true, false},
		{"61.114", "", 61114000, true, false},
		{"0", "ms", 0, true, false},
		{"19440110.0", "", 19440110000000, true, false},
		{"1500", "ns", 1, true, false},
		{"2023-11-16 18:17:03.9799600", "", 1700158623979960, false, true},
		{"2023-11-16T18:17:03Z", "", 1700158623000000, false, false},
		{"2023-11-16T18:17:03.979960123+00:00", "", 1700158623979960, false, false},
		{"2023-11-16T19:17:03.97+01:00", "", 1700158623970000, false, false},
		{"2023-11-16T12:47:03-0530", "", 1700158623000000, false, false},
		{"2023-11-16 18:17:03 UTC", "", 1700158623000000, false, false},
		{"2023-11-16 18:17:03,5", "", 1700158623500000, false, true},
		{"2023/11/16 18:17", "", 1700158620000000, false, true},
		{" 2023-11-16t18:17:03z ", "", 1700158623000000, false, false},
		{"2024-02-29T00:00:00Z", "", 1709164800000000, false, false},
	} {
		got, ok := ParseTime(c.in, c.unit)
		if !ok || got.Micros != c.us || got.Relative != c.relative || got.Naive != c.naive {
			t.Errorf("%q@%s: %+v %v, want %d", c.in, c.unit, got, ok, c.us)
		}
	}
	for _, in := range []string{"", " ", "-5", "NaN", "Infinity", "1e400", "yesterday", "2023-11-16", "2023-02-29T00:00:00Z",
		"2023-13-01T00:00:00Z", "2023-11-16T24:00:00Z", "2023-11-16T18:61:00Z", "2023-11-16T18:17:03.Z", "2023-11-16T18:17:03+99:00",
		"2023-11-16T18:17:03 PST", "07-21 15:38:02", "99999999999999999999", "50000000000", "1.2.3", "0001-01-01T00:00:00Z", "11/6/2023 18:17"} {
		if got, ok := ParseTime(in, ""); ok {
			t.Errorf("%q was read as %+v", in, got)
		}
	}
}

// Every instant survives being written by the standard library, and every digit
// of a fraction counts.
func TestTimeRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		us := epochMin*1_000_000 + rng.Int64N((epochMax-epochMin)*1_000_000)
		at := time.UnixMicro(us)
		zoned := at.In(time.FixedZone("", (rng.IntN(28*60)-14*60)*60))
		for _, s := range []string{zoned.Format(time.RFC3339Nano), at.UTC().Format("2006-01-02 15:04:05.000000000"),
			strconv.FormatInt(us, 10), strconv.FormatInt(us*1000+rng.Int64N(1000), 10), strconv.FormatInt(us/1000, 10) + "." + strconv.FormatInt(us%1000+1000, 10)[1:]} {
			if got, ok := ParseTime(s, ""); !ok || got.Micros != us || got.Relative {
				t.Fatalf("%q: %+v %v, want %d", s, got, ok, us)
			}
		}
	}
}

// Every day that a date can name is the one of the standard library, and no other
// day is taken.
func TestEveryDay(t *testing.T) {
	for year := 1970; year < 2103; year++ {
		for month := range 15 {
			for day := range 35 {
				at := time.Date(year, time.Month(month), day, 23, 59, 58, 0, time.UTC)
				valid := month > 0 && month < 13 && day > 0 && at.Day() == day
				got, ok := ParseTime(fmt.Sprintf("%04d-%02d-%02d 23:59:58", year, month, day), "")
				if ok != valid || ok && got.Micros != at.UnixMicro() {
					t.Fatalf("%d-%d-%d: %+v %v", year, month, day, got, ok)
				}
			}
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"1712578979.485", "638481757794854611", "2023-11-16 18:17:03.9799600", "2023-11-16T19:17:03.97+01:00", "1e9", "-1"} {
		f.Add(s, "")
		f.Add(s, "ms")
	}
	f.Fuzz(func(t *testing.T, s, unit string) {
		if PerSecond(unit) == 0 {
			unit = ""
		}
		st, ok := ParseTime(s, unit)
		if ok && (st.Micros < 0 || st.Micros > epochMax*1_000_000) {
			t.Fatalf("%q gives %+v", s, st)
		}
	})
}

func TestParseCount(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "12": 12, " 12 ": 12, "12.0": 12, "1.2e1": 12, "16777216": 1 << 24} {
		if got, wrong := ParseCount(in, 1<<24); wrong != "" || got != want {
			t.Errorf("%q: %d %s", in, got, wrong)
		}
	}
	for in, want := range map[string]string{"NaN": "is not a number", "x": "is not a number", "": "is not a number", "-1": "is negative", "-1.0": "is negative",
		"1.5": "is not a whole number", "9223372036854775808": "is too large", "16777217": "is too large", "1e300": "is too large", "inf": "is too large"} {
		if _, wrong := ParseCount(in, 1<<24); wrong != want {
			t.Errorf("%q: %q, want %q", in, wrong, want)
		}
	}
}
