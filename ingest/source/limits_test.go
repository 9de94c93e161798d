package source

import (
	"io"
	"testing"
)

// A stream that grows out of all proportion is stopped near its limit.
func TestExpansion(t *testing.T) {
	for _, c := range []struct {
		in, want int64 // bytes of the file, and those that may come out
		limits   Limits
	}{{10, 64 << 20, Limits{}}, {1 << 20, 1000 << 20, Limits{}}, {1 << 20, 100 << 20, Limits{Ratio: 100}},
		{1 << 20, 1 << 20, Limits{Floor: 1 << 20, Ratio: 1}}, {1 << 40, 128 << 20, Limits{Total: 128 << 20}}} {
		e := &expansion{r: io.LimitReader(zeros{}, 1<<40), raw: &meter{n: c.in}, limits: c.limits.orDefault()}
		n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{e}, make([]byte, 1<<20))
		if !IsBomb(err) || n > c.want || n < c.want-(1<<20) {
			t.Fatalf("%+v: %d bytes, %v", c, n, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
