package replay

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
)

// randomResult fills every field that is stored, each optional one half the
// time.
func randomResult(rng *rand.Rand, row int64) Result {
	q := Result{Row: row, Phase: Phase(rng.IntN(3)), Sched: rng.Int64N(1e12),
		Class: Class(rng.IntN(int(classes))), NEvents: rng.Int32(), NReads: rng.Int32N(100), Finish: trace.Finish(rng.IntN(7))}
	for _, o := range instants(&q) {
		if rng.IntN(2) == 0 {
			*o = some(rng.Int64() - 1<<62)
		}
	}
	for _, o := range tokens(&q) {
		if rng.IntN(2) == 0 {
			*o = some(rng.Int32())
		}
	}
	if rng.IntN(2) == 0 {
		q.HTTP, q.Reused = some(int16(rng.IntN(600))), some(rng.IntN(2) == 0)
		q.Endpoint, q.ServerRequestID = "a", "req-ü"
	}
	for range rng.IntN(50) {
		q.Gaps = append(q.Gaps, rng.Int32()-1<<30)
	}
	return q
}

func rng() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// Every field of a Result that is stored is in the record: a new one that is
// forgotten fails here.
func TestRecordRoundTrip(t *testing.T) {
	r := rng()
	touched := map[string]bool{}
	for i := range int64(500) {
		in := randomResult(r, i)
		in.Point, in.Repeat = r.Int32N(5), r.Int32N(3)
		out, err := decodeResult(appendResult(nil, &in))
		if err != nil || !reflect.DeepEqual(in, out) {
			t.Fatalf("%v\n%+v\n%+v", err, in, out)
		}
		v := reflect.ValueOf(out)
		for f := range v.NumField() {
			if !v.Field(f).IsZero() {
				touched[v.Type().Field(f).Name] = true
			}
		}
	}
	for f := range reflect.TypeFor[Result]().Fields() {
		if n := f.Name; !touched[n] && !slices.Contains([]string{"Reason", "Hopeless", "Said", "Far", "Protocol"}, n) {
			t.Errorf("field %s never comes back from a record", n)
		}
	}
	h := HealthRow{1, 2, 3, 4, 5, 6, -1, 8, 80, 0.5, 10, -1, -1, 11, 12, 13, -1}
	if got, err := decodeHealth(appendHealth(nil, &h)); err != nil || got != h {
		t.Fatalf("%+v %v", got, err)
	}
	s := ServerRow{1, "vllm:num_requests_running", `model_name="m"`, 3.5}
	if got, err := decodeServer(appendServer(nil, &s)); err != nil || got != s {
		t.Fatalf("%+v %v", got, err)
	}
}

func collect[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for r, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func runOf(n int64, s Status) *Run {
	r := &Run{Status: s, StartedAt: "2026-01-02T03:04:05Z", Trace: Input{"t", "aa"}, Planned: n, Endpoint: Endpoint{URL: "http://h"}}
	if s != Running {
		r.Outcomes = []Outcome{{Class: "ok", N: n}}
	}
	return r
}

func fill(t *testing.T, path string, n int) (*Writer, []Result) {
	t.Helper()
	w, err := CreateDir(path, runOf(int64(n), Running))
	if err != nil {
		t.Fatal(err)
	}
	r := rng()
	var all []Result
	for i := range n {
		all = append(all, randomResult(r, int64(i)))
	}
	for _, i := range r.Perm(n) {
		if err := w.Result(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.Health(HealthRow{TNS: 1e9, CPU: 0.25, Steal: -1})
	w.Server(ServerRow{TNS: 1e9, Name: "up", Value: 1})
	slices.SortFunc(all, func(a, b Result) int { return int(a.Sched - b.Sched) })
	return w, all
}

func TestDirComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run1")
	w, all := fill(t, path, 3000)
	if err := w.Finish(runOf(3000, Complete)); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := collect(t, d.Requests()); !reflect.DeepEqual(got, all) {
		t.Fatal("the results are not those written, in the order of the schedule")
	}
	if h := collect(t, d.Health()); len(h) != 1 || h[0].CPU != 0.25 {
		t.Fatalf("%+v", h)
	}
	if s := collect(t, d.Server()); len(s) != 1 || s[0].Name != "up" {
		t.Fatalf("%+v", s)
	}
	var names []string
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"health.parquet", "requests.parquet", "run.json", "server.parquet"}) {
		t.Fatalf("the directory holds %v", names)
	}
	if _, err := CreateDir(path, runOf(1, Running)); err == nil || !strings.Contains(err.Error(), "never overwritten") {
		t.Fatalf("results were overwritten: %v", err)
	}
}

// The columns are those of artifacts.md §4, in its order.
func TestColumns(t *testing.T) {
	want := strings.Fields(`row point endpoint repeat phase
		sched dispatch conn_ready write_end first_byte first_event first_content first_answer last_content end
		dns_us tcp_us tls_us reused class http retry_after_ms
		in_asked in_usage out_asked out_usage out_local cached out_chars n_events n_reads finish
		server_request_id server_time_us gaps_us`)
	if got := requestTable().Columns(); !slices.Equal(got, want) {
		t.Fatalf("%v", got)
	}
}

func TestFinishRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run1")
	w, _ := fill(t, path, 5)
	if err := w.Finish(runOf(6, Complete)); err == nil || !strings.Contains(err.Error(), "6 requests planned but 5 results") {
		t.Fatal(err)
	}
	if d, err := OpenDir(path); err != nil || !d.Partial || d.Rows != 5 {
		t.Fatalf("%+v %v", d, err)
	}
}

// A complete directory with a file missing, short or foreign is refused.
func TestOpenStrict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run1")
	w, _ := fill(t, path, 5)
	if err := w.Finish(runOf(5, Complete)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runFile, requestsFile, healthFile, serverFile} {
		file := filepath.Join(path, name)
		good, _ := os.ReadFile(file)
		os.WriteFile(file, good[:len(good)-10], 0o644)
		if _, err := OpenDir(path); err == nil {
			t.Errorf("a short %s was read", name)
		}
		os.Remove(file)
		if _, err := OpenDir(path); err == nil {
			t.Errorf("a missing %s went unnoticed", name)
		}
		os.WriteFile(file, good, 0o644)
	}
	if _, err := OpenDir(path); err != nil {
		t.Fatal(err)
	}
}

// Whatever a kill leaves of the spool, every whole frame reads, in any cut.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run1")
	w, err := CreateDir(path, runOf(400, Running))
	if err != nil {
		t.Fatal(err)
	}
	r := rng()
	var ends []int64 // of the frames
	spool := filepath.Join(path, spoolDir, spoolFile)
	for i := range int64(400) {
		w.Result(randomResult(r, i))
		if i%20 == 19 {
			w.flushAll()
			st, _ := os.Stat(spool)
			ends = append(ends, st.Size())
		}
	}
	whole, err := os.ReadFile(spool)
	if err != nil || int64(len(whole)) != ends[19] {
		t.Fatal(err)
	}
	for range 200 {
		cut := r.Int64N(int64(len(whole)) + 1)
		n, _ := slices.BinarySearch(ends, cut+1) // whole frames in the cut
		os.WriteFile(spool, whole[:cut], 0o644)
		d, err := OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, d.Requests()); len(got) != 20*n || !d.Partial || d.Rows != int64(20*n) {
			t.Fatalf("cut at %d: %d rows, want %d", cut, len(got), 20*n)
		}
		d.Close()
		// A flipped bit costs its frame, and none behind it.
		bad := bytes.Clone(whole)
		at := r.IntN(len(bad))
		bad[at] ^= 1 << r.IntN(8)
		n, _ = slices.BinarySearch(ends, int64(at)+1)
		size := ends[n]
		if n > 0 {
			size -= ends[n-1]
		}
		os.WriteFile(spool, bad, 0o644)
		if d, err = OpenDir(path); err != nil || d.Rows != 380 || d.Cut != size {
			t.Fatalf("flip at %d: %v, %+v, want %d bytes lost", at, err, d, size)
		}
		for _, q := range collect(t, d.Requests()) {
			if int(q.Row)/20 == n {
				t.Fatalf("flip at %d: row %d is of the damaged frame", at, q.Row)
			}
		}
		d.Close()
	}
	os.WriteFile(spool, whole, 0o644)
	if d, err := OpenDir(path); err != nil || d.Run.Status != Running {
		t.Fatalf("the process lives: %v %+v", err, d.Run)
	}
	close(w.stop)
	<-w.done
	w.file.Close() // as the kernel does when it is killed
	d, err := OpenDir(path)
	if runtime.GOOS != "windows" && (err != nil || d.Run.Status != Killed || !d.Partial || d.Rows != 400) {
		t.Fatalf("the process is gone: %v %+v", err, d.Run)
	}
	d.Close()
	os.RemoveAll(filepath.Join(path, spoolDir))
	if d, err := OpenDir(path); err != nil || d.Rows != 0 || !d.Partial {
		t.Fatalf("killed before the spool: %v", err)
	}
}

func TestLedger(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		w, _ := fill(t, filepath.Join(dir, name), 3)
		end := runOf(3, Aborted)
		end.AbortReason = "interrupted"
		if name == "b" {
			continue // killed
		}
		if err := w.Finish(end); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, LedgerFile)
	data, _ := os.ReadFile(file)
	lines, err := ReadLedger(data)
	if err != nil || len(lines) != 3 {
		t.Fatalf("%v %+v", err, lines)
	}
	if lines[1].Status != Aborted || lines[1].Reason != "interrupted" || lines[1].Run == "" || lines[2].Results != "b" || lines[2].Status != Running {
		t.Fatalf("%+v", lines)
	}
	split := bytes.SplitAfter(data, []byte("\n"))
	for name, bad := range map[string][]byte{
		"a line changed":   bytes.Replace(data, []byte(`"planned":3`), []byte(`"planned":4`), 1),
		"a line taken out": slices.Concat(split[0], split[2]),
		"cut short":        data[:len(data)-3],
		"not JSON":         append(bytes.Clone(data), "x\n"...),
	} {
		if _, err := ReadLedger(bad); err == nil {
			t.Errorf("%s: went unnoticed", name)
		}
	}
	if lines, err := ReadLedger(data[:0]); err != nil || len(lines) != 0 {
		t.Fatal(err)
	}
}

func FuzzSpool(f *testing.F) {
	q := randomResult(rng(), 1)
	rec := appendResult(nil, &q)
	payload := append(binary.AppendUvarint(nil, uint64(len(rec))), rec...)
	f.Add(appendFrame(nil, frameResults, payload), payload, rec)
	f.Fuzz(func(t *testing.T, spool, payload, rec []byte) {
		ix := &index{}
		n, err := frames(bytes.NewReader(spool), int64(len(spool)), ix.add)
		if n > int64(len(spool)) || (err == nil && n != int64(len(spool))) {
			t.Fatalf("%d of %d bytes good, %v", n, len(spool), err)
		}
		// Whatever the damage, the frame behind it reads, and no byte is counted twice.
		health := appendFrame(nil, frameHealth, append([]byte{26}, appendHealth(nil, &HealthRow{})...))
		all, seen, good := append(bytes.Clone(spool), health...), 0, int64(0)
		lost, err := wholeFrames(bytes.NewReader(all), int64(len(all)), func(q frame) error {
			good += frameHead + int64(len(q.payload))
			if q.at == int64(len(spool)+frameHead) {
				seen++
			}
			return nil
		})
		if err != nil || lost+good != int64(len(all)) || seen != 1 {
			t.Fatalf("%d bytes lost and %d good of %d, the last frame seen %d times, %v", lost, good, len(all), seen, err)
		}
		for _, kind := range []byte{frameResults, frameHealth, frameServer} {
			one := appendFrame(nil, kind, payload)
			frames(bytes.NewReader(one), int64(len(one)), ix.add)
		}
		if q, err := decodeResult(rec); err == nil {
			again, err := decodeResult(appendResult(nil, &q))
			if err != nil || !reflect.DeepEqual(q, again) {
				t.Fatal("a record that reads does not survive a round trip")
			}
		}
	})
}

func BenchmarkAppendResult(b *testing.B) {
	q := randomResult(rng(), 1)
	q.Gaps = make([]int32, 200)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = appendResult(buf[:0], &q)
	}
}
