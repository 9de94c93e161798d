package spill

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
)

func space(t testing.TB) *Space {
	t.Helper()
	s := NewSpace(t.TempDir())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(s.dir); len(left) > 0 {
			t.Errorf("%d temporary files are left", len(left))
		}
	})
	return s
}

// pair is a record of a test.
type pair struct {
	key  Key
	body string
}

func drain(t testing.TB, r *Reader) []pair {
	t.Helper()
	var out []pair
	for {
		k, b, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pair{k, string(b)})
	}
}

// Whatever the memory, the order is that of a stable sort.
func TestSorterIsAStableSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, 5000} {
		var want []pair
		for i := range n {
			body := fmt.Sprint(i)
			if rng.IntN(50) == 0 {
				body += string(make([]byte, rng.IntN(3000)))
			}
			want = append(want, pair{Key{rng.Uint64N(7), rng.Uint64N(5)}, body})
		}
		given := slices.Clone(want)
		slices.SortStableFunc(want, func(a, b pair) int { return a.key.compare(b.key) })
		for _, memory := range []int{0, 700, 4000, 1 << 20} {
			if memory == 0 && n > 100 {
				continue // a file each would be too many
			}
			s := NewSorter(space(t), memory)
			for _, p := range given {
				if err := s.Add(p.key, []byte(p.body)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Finish(); err != nil {
				t.Fatal(err)
			}
			if memory == 700 && n > 100 && !s.Spilled() {
				t.Fatal("nothing was spilled")
			}
			for range 2 { // a second reader sees the same
				if got := drain(t, s.Reader()); !slices.Equal(got, want) || s.Len() != int64(n) {
					t.Fatalf("%d records in %d bytes: another order", n, memory)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Numbers are those that a map gives, whatever the memory: with 0 bytes a part
// has more keys than its table and is dealt out again.
func TestNumbersAreThoseOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ n, distinct int }{{0, 1}, {1, 1}, {500, 3}, {3000, 3000}, {60_000, 50_000}} {
		keys := make([]uint64, c.n)
		for i := range keys {
			keys[i] = rng.Uint64N(uint64(c.distinct)) // stretches, as prefixes are
			if i > 0 && rng.IntN(4) > 0 {
				keys[i] = (keys[i-1] + 1) % uint64(c.distinct)
			}
		}
		for _, counted := range []bool{false, true} {
			n, err := NewNumbers(space(t), 1<<12, counted)
			if err != nil {
				t.Fatal(err)
			}
			fresh := func(i int) bool { return i%11 == 7 }
			for i, k := range keys {
				if fresh(i) {
					n.Fresh(2)
				}
				if err := n.Add(KeyOf(k)); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			ids, times, next := map[uint64]uint64{}, map[uint64]uint64{}, uint64(0)
			check := func(want, wantNth uint64) {
				id, nth, err := n.Next()
				if !counted {
					wantNth = 0
				}
				if err != nil || id != want || nth != wantNth {
					t.Fatalf("%d keys: number %d, %d times before, want %d, %d (%v)", c.n, id, nth, want, wantNth, err)
				}
			}
			for i, k := range keys {
				for range 2 {
					if fresh(i) {
						check(next, 0)
						next++
					}
				}
				if _, ok := ids[k]; !ok {
					ids[k] = next
					next++
				}
				check(ids[k], times[k])
				times[k]++
			}
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLatestIsThatOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	l, err := NewLatest(space(t), 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		at uint64
		ok bool
	}
	last, wants := map[uint64]uint64{}, []want{}
	for pos := range uint64(8_000) {
		use, def := rng.Uint64N(9000), rng.Uint64N(9000)
		at, ok := last[use]
		wants = append(wants, want{at, ok})
		if err := errors.Join(l.Use(KeyOf(use), pos), l.Define(KeyOf(def), pos)); err != nil {
			t.Fatal(err)
		}
		last[def] = pos
	}
	if err := l.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for pos, w := range wants {
		if at, ok, err := l.Find(uint64(pos)); err != nil || ok != w.ok || (ok && at != w.at) {
			t.Fatalf("at %d: %d %v %v, want %+v", pos, at, ok, err, w)
		}
	}
}

// A disk that fills up at any moment is an error that says so, and leaves
// nothing behind.
func TestFullDisk(t *testing.T) {
	work := func(s *Space) error {
		sorter := NewSorter(s, 20_000)
		n, err := NewNumbers(s, 500, false)
		if err != nil {
			return err
		}
		for i := range uint64(8000) {
			if err := errors.Join(sorter.Add(KeyOf(i), []byte("body")), n.Add(KeyOf(i/2))); err != nil {
				return err
			}
		}
		return errors.Join(sorter.Finish(), n.Finish(context.Background()))
	}
	free := space(t)
	if err := work(free); err != nil {
		t.Fatal(err)
	}
	for share := range int64(10) {
		s := space(t)
		s.room = free.Used() * share / 10
		if err := work(s); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with %d of %d bytes: %v", s.room, free.Used(), err)
		}
	}
}

func TestNoFolder(t *testing.T) {
	if _, err := NewNumbers(NewSpace("no/such/folder"), 0, false); err == nil {
		t.Fatal("no error")
	}
}

// FuzzRun reads anything as a run: records or an error, never a panic, and no
// more memory than the file is long.
func FuzzRun(f *testing.F) {
	good := binary.AppendUvarint(make([]byte, 16), 3)
	good = append(good, "abc"...)
	f.Add(good)
	f.Add(append(slices.Clone(good), good[:18]...))
	f.Add(append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSource(bytes.NewReader(data), int64(len(data)), 0)
		read := 0
		for {
			err := s.next()
			if err == io.EOF {
				if read != len(data) {
					t.Fatalf("%d of %d bytes", read, len(data))
				}
				return
			}
			if err != nil {
				return
			}
			if cap(s.body) > 2*len(data) {
				t.Fatalf("%d bytes for a file of %d", cap(s.body), len(data))
			}
			read += 16 + int(uvarintLen(uint64(len(s.body)))) + len(s.body)
		}
	})
}

func BenchmarkNumbers(b *testing.B) {
	const n = 2_000_000
	b.ReportAllocs()
	for b.Loop() {
		s := NewSpace(b.TempDir())
		x, err := NewNumbers(s, 32<<20, false)
		for i := range uint64(n) {
			err = errors.Join(err, x.Add(KeyOf(i%1_200_000)))
		}
		if err = errors.Join(err, x.Finish(b.Context())); err != nil {
			b.Fatal(err)
		}
		for range n {
			if _, _, err := x.Next(); err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mkeys/s")
}
