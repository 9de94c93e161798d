package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"reprise/trace/token"
)

// The tokens of an answer are counted when the run is over: of its text without
// the escapes of JSON, its parts apart.
func TestLocalCount(t *testing.T) {
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	answers := []*Said{
		{Content: []byte("Hello world")},
		{Content: []byte(`a\n\"b\" \u00e9 \ud83d\ude00`), Reasoning: []byte("Let me see")},
		{Tool: []byte(`{\"city\":\"Paris\"}`)},
		nil,
		{},
		{Content: []byte("one"), More: []Said{{}, {Content: []byte("two words"), Tool: []byte("f")}}},
	}
	want := []int{tok.Count("Hello world"), tok.Count("a\n\"b\" é 😀") + tok.Count("Let me see"), tok.Count(`{"city":"Paris"}`), -1, 0, tok.Count("one") + tok.Count("two words") + tok.Count("f")}
	path := filepath.Join(t.TempDir(), "run")
	w, err := CreateDir(path, goldenRun())
	if err != nil {
		t.Fatal(err)
	}
	w.Count = tok.Count
	for i, s := range answers {
		if err := w.Result(Result{Row: int64(i), Sched: int64(i), Said: s}); err != nil {
			t.Fatal(err)
		}
	}
	end := goldenRun()
	end.Status, end.Planned, end.Outcomes = Complete, int64(len(answers)), []Outcome{{Class: "ok", N: int64(len(answers))}}
	if err := w.Finish(end); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for r, err := range d.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if got := int(r.OutLocal.Or(-1)); got != want[r.Row] {
			t.Errorf("answer %d: %d tokens, want %d", r.Row, got, want[r.Row])
		}
	}
}

// A process that is killed at any instant leaves all results but those of the
// last second: in virtual time, the folder is looked at as a kill would leave
// it.
func TestKillLosesASecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run")
		w, err := CreateDir(path, goldenRun())
		if err != nil {
			t.Fatal(err)
		}
		w.Count = func(s string) int { return len(s) }
		start, rng := time.Now(), rng()
		for i := int64(0); time.Since(start) < 20*time.Second; i++ {
			if err := w.Result(Result{Row: i, Sched: int64(time.Since(start)), Said: &Said{Content: []byte("x")}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(60 * time.Millisecond))))
			synctest.Wait()
			kept := map[int64]bool{}
			d, err := OpenDir(path)
			if err != nil {
				t.Fatal(err)
			}
			last := int64(-1)
			for r, err := range d.Requests() {
				if err != nil {
					t.Fatal(err)
				}
				kept[r.Row], last = true, max(last, r.Sched)
			}
			d.Close()
			if len(kept) > 0 && kept[0] != true || int64(time.Since(start))-last > int64(spoolEvery)+60e6 && i > 60 {
				t.Fatalf("after %v the last kept result is of %v", time.Since(start), time.Duration(last))
			}
			for row := range int64(len(kept)) {
				if !kept[row] {
					t.Fatalf("row %d is lost among %d", row, len(kept))
				}
			}
		}
		end := goldenRun()
		end.Status = Aborted
		w.Finish(end) // the number of rows is not what it says; the goroutine ends
	})
}

// The file takes at most 2.2 bytes a token at 200 tokens a request, by gaps as
// the reference measured them: log-normal between streams, 1 to 15 % jitter, 2 %
// interference that doubles a gap, 1 % of events in one read; of 10 ms.
func TestBytesPerToken(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, tokens = 4000, 200
	path := filepath.Join(t.TempDir(), "run")
	w, err := CreateDir(path, goldenRun())
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for i := range int64(n) {
		at += int64(r.ExpFloat64() * 5e6)
		q := Result{Row: i, Phase: Measure, Sched: at, Dispatch: some(at + 20_000 + r.Int64N(40_000)), Class: OK, HTTP: some(int16(200)), Reused: some(true),
			InAsked: some(r.Int32N(4000)), OutAsked: some(int32(tokens)), OutUsage: some(int32(tokens)), OutLocal: some(int32(tokens)), NEvents: tokens, NReads: tokens - 2,
			ServerRequestID: fmt.Sprintf("chatcmpl-%032x", r.Uint64())}
		q.InUsage = q.InAsked
		q.ConnReady, q.WriteEnd = q.Dispatch, some(q.Dispatch.V+30_000+r.Int64N(20_000))
		first := q.WriteEnd.V + 50e6 + r.Int64N(100e6)
		q.FirstByte, q.FirstEvent, q.FirstContent = some(first), some(first), some(first)
		base, jitter := 10_000*math.Exp(0.3*r.NormFloat64()), 0.01+0.14*r.Float64()
		sum := int64(0)
		for range tokens - 1 {
			g := base * (1 + jitter*r.NormFloat64())
			switch p := r.Float64(); {
			case p < 0.02:
				g *= 2
			case p < 0.03:
				g = 0
			}
			q.Gaps = append(q.Gaps, int32(max(g, 0)))
			sum += int64(max(g, 0))
		}
		q.LastContent, q.End = some(first+sum*1000), some(first+sum*1000+40_000)
		if err := w.Result(q); err != nil {
			t.Fatal(err)
		}
	}
	end := goldenRun()
	end.Status, end.Planned, end.Outcomes = Complete, n, []Outcome{{Class: "ok", N: n}}
	if err := w.Finish(end); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(path, requestsFile))
	if err != nil {
		t.Fatal(err)
	}
	per := float64(st.Size()) / (n * tokens)
	t.Logf("%.3f bytes a token, all columns", per)
	if per > 2.2 {
		t.Errorf("%.3f bytes a token", per)
	}
	if _, err := os.Stat(filepath.Join(path, spoolDir)); err == nil {
		t.Error("the spool is still there")
	}
}
