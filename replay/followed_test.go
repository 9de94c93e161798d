package replay

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// The counts of a run are from the last scrape before its zero that has all
// metrics, not from one that came before other machines were ready; a scrape
// without buckets does not stand for it.
func TestServerRowsBeginJustBeforeTheStart(t *testing.T) {
	at := func(s float64, names ...string) (rows []ServerRow) {
		for _, n := range names {
			rows = append(rows, ServerRow{TNS: int64(s * 1e9), Name: n})
		}
		return rows
	}
	for i, c := range []struct {
		rows  []ServerRow
		first float64 // s
	}{
		{slices.Concat(at(-9, "n", "b"), at(-0.2, "n", "b"), at(1, "n")), -0.2},
		{slices.Concat(at(-9, "n", "b"), at(-2, "n"), at(-1, "n"), at(0.5, "n")), -9}, // as results of before have them
		{slices.Concat(at(-9, "n", "b"), at(-5, "n", "b", "b"), at(-1, "n"), at(0.5, "n", "b")), -5},
		{slices.Concat(at(-9, "n"), at(-1, "n"), at(0, "n"), at(1, "n")), -1}, // a server without histograms
		{slices.Concat(at(-0.1, "n", "b"), at(1, "n")), -0.1},                 // one machine alone
		{slices.Concat(at(0, "n", "b"), at(1, "n", "b")), 0},
		{slices.Concat(at(-9, "n"), at(-1, "n", "new"), at(2, "n", "new")), -1},
		{slices.Concat(at(-9, "n", "b"), at(-3, "n", "b")), -3}, // it never began
		{nil, 0},
	} {
		got := fromStart(c.rows)
		if len(c.rows) == 0 {
			if len(got) > 0 {
				t.Errorf("case %d: %v of nothing", i, got)
			}
			continue
		}
		if len(got) == 0 || got[0].TNS != int64(c.first*1e9) || got[len(got)-1] != c.rows[len(c.rows)-1] {
			t.Errorf("case %d: %v, want from %g s to the end", i, got, c.first)
		}
	}
}

// Three machines get ready one after the other, each with five requests, before
// they start together: of the server's count in the merged run none is left.
func TestMergeCountsFromTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var dirs []*Dir
		for i, ended := range []float64{5, 10, 15} { // at each one's first scrape
			run := Run{Mode: OpenLoop, Status: Running, Trace: Input{SHA256: "x"}, Salt: 5, Shard: &Shard{Index: i, Of: 3, StartAt: "2026-11-30T07:00:00Z"}}
			path := filepath.Join(t.TempDir(), fmt.Sprint(i))
			w, err := CreateDir(path, &run)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []ServerRow{{TNS: int64(i-4) * 1e9, Value: ended}, {TNS: -0.2e9, Value: 15}, {TNS: 3e9, Value: 40}, {TNS: 9e9 - int64(i), Value: 115}} {
				r.Name = "vllm:request_success_total"
				if err := w.Server(r); err != nil {
					t.Fatal(err)
				}
			}
			run.Status = Complete
			if err := w.Finish(&run); err != nil {
				t.Fatal(err)
			}
			d, err := OpenDir(path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			dirs = append(dirs, d)
		}
		m, err := Merge(dirs)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(m.Server); n != 3 || m.Server[n-1].Value-m.Server[0].Value != 100 {
			t.Errorf("the server ended 100 requests of the run: %+v", m.Server)
		}
	})
}
