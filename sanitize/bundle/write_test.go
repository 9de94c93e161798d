package bundle

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"reprise/trace"
	"reprise/trace/spec"
)

// What leaves under exact: every request as it was, but for its client and its
// numbers, and nothing that names the log.
func TestExactLeaves(t *testing.T) {
	for seed := range uint64(8) {
		local := sampleTrace(seed, 50+int(seed)*40)
		b := written(t, input(local, "exact"))
		sent, err := trace.LoadFile(filepath.Join(b.Dir(), TraceFile))
		if err != nil {
			t.Fatal(err)
		}
		h := sent.Header
		if !h.Leaves || h.Profile != "exact" || len(h.Sources) != 0 || h.Time.Zero != "Thu 18:00:00.000000" {
			t.Fatalf("header %+v", h)
		}
		if _, ok, err := h.Time.ZeroTime(); !ok || err != nil {
			t.Fatalf("the label cannot be read: %v", err)
		}
		if h.DerivedFrom.Verb != "bundle" || h.DerivedFrom.SHA256 != strings.Repeat("12", 32) {
			t.Fatalf("derived from %+v", h.DerivedFrom)
		}
		if want := map[string]int64{"other": 3}; !maps.Equal(h.Counts.Excluded, want) {
			t.Fatalf("excluded %v, want %v: a rule's name is free text", h.Counts.Excluded, want)
		}
		sameRows(t, local, sent)
		for name, data := range filesOf(t, b.Dir()) {
			if strings.Contains(data, sourceHash) || strings.Contains(data, "ACME") {
				t.Errorf("%s names the log", name)
			}
		}
	}
}

// sameRows checks that only client, session and block numbers differ, and that
// those map one to one, in order of first appearance.
func sameRows(t *testing.T, local, sent *trace.Trace) {
	t.Helper()
	sessions, blocks := map[int32]int32{}, map[int32]int32{}
	for i := range local.Requests {
		a, b := local.Requests[i], sent.Requests[i]
		if b.Client.OK {
			t.Fatalf("row %d has a client", i)
		}
		if got := renumbered(sessions, a.Session.V); got != b.Session.V {
			t.Fatalf("row %d: session %d, want %d", i, b.Session.V, got)
		}
		for j := range a.Blocks {
			if got := renumbered(blocks, a.Blocks[j]); got != b.Blocks[j] {
				t.Fatalf("row %d: block %d is %d, want %d", i, j, b.Blocks[j], got)
			}
		}
		a.Client, a.Session, a.Blocks = b.Client, b.Session, b.Blocks
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("row %d: %+v, want %+v", i, b, a)
		}
	}
}

func renumbered(m map[int32]int32, old int32) int32 {
	if _, ok := m[old]; !ok {
		m[old] = int32(len(m))
	}
	return m[old]
}

// The list of what leaves names every column of the file on disk, and the
// field table knows all of them.
func TestEveryColumnIsListed(t *testing.T) {
	b := written(t, input(sampleTrace(1, 60), "exact"))
	f, err := os.Open(filepath.Join(b.Dir(), TraceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	p, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	a := auditOf(t, b)
	var columns, known []string
	for _, c := range p.Schema().Columns() {
		columns = append(columns, c[0])
		if c[0] != "client" && !slices.Contains(b.Spec.Privacy.Leaves, TraceFile+": "+c[0]) {
			t.Errorf("column %s leaves and is not listed", c[0])
		}
	}
	for _, f := range a.Fields {
		if f.File == TraceFile {
			known = append(known, f.Name)
		}
		if f.Name == "client" && f.Present != 0 {
			t.Error("the audit counts clients")
		}
	}
	if !slices.Equal(columns, known) {
		t.Errorf("the file has columns %v, the audit %v", columns, known)
	}
	for name := range filesOf(t, b.Dir()) {
		if !slices.ContainsFunc(b.Spec.Privacy.Leaves, func(l string) bool { return strings.HasPrefix(l, name) }) {
			t.Errorf("file %s leaves and is not listed", name)
		}
	}
}

func auditOf(t *testing.T, b *Bundle) *Audit {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.Dir(), AuditFile))
	if err != nil {
		t.Fatal(err)
	}
	a, err := DecodeAudit(data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The figures of re-identification, counted here in another way.
func TestReidentification(t *testing.T) {
	local := sampleTrace(3, 400)
	a := auditOf(t, written(t, input(local, "exact")))
	unique, sessions := 0, map[int32]int{}
	for _, r := range local.Requests {
		same := 0
		for _, o := range local.Requests {
			if o.Input == r.Input && o.Output == r.Output {
				same++
			}
		}
		if same == 1 {
			unique++
		}
		sessions[r.Session.V]++
	}
	single := 0
	for _, n := range sessions {
		if n == 1 {
			single++
		}
	}
	if want := spec.Round(float64(unique) / 400); a.Reident.UniqueInOut != want {
		t.Errorf("unique share %v, want %v", a.Reident.UniqueInOut, want)
	}
	if a.Reident.Sessions != int64(len(sessions)) || a.Reident.SingletonSessions != int64(single) || a.Reident.Rows != 400 {
		t.Errorf("%+v, want %d sessions, %d of one request", a.Reident, len(sessions), single)
	}
	if a.Counts.Clients == nil || *a.Counts.Clients != 12 {
		t.Errorf("clients %v, want 12", a.Counts.Clients)
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	for _, p := range Profiles() {
		in := input(sampleTrace(2, 1500), p)
		before, err := spec.Encode(in.Spec)
		if err != nil {
			t.Fatal(err)
		}
		one, two := filesOf(t, written(t, in).Dir()), filesOf(t, written(t, in).Dir())
		if !maps.Equal(one, two) {
			t.Errorf("%s: two writes differ", p)
		}
		if after, _ := spec.Encode(in.Spec); !bytes.Equal(before, after) {
			t.Errorf("%s: Write changed its input", p)
		}
	}
}

// TestAggregateOfAnotherTrace: with a trace that is not the spec's, k and u would
// be checked on requests that do not leave.
func TestAggregateOfAnotherTrace(t *testing.T) {
	in := input(sampleTrace(1, 60), "aggregate")
	in.Trace = sampleTrace(2, 60)
	if err := Write(filepath.Join(t.TempDir(), "b"), in); err == nil || !strings.Contains(err.Error(), "not the one that the spec was fitted from") {
		t.Errorf("%v", err)
	}
}

// TestWriteOfACut: a cut of the trace may leave in its place, and has no more of
// anything than the spec says.
func TestWriteOfACut(t *testing.T) {
	in := input(sampleTrace(1, 60), "exact")
	whole := in.Trace
	part := *whole
	part.Requests = whole.Requests[10:40]
	part.Header.Counts = trace.Counts{Read: 30, Kept: 30}
	for i := range part.Requests {
		part.Requests[i].ID, part.Requests[i].Parent = int64(i), trace.Opt[int64]{}
	}
	part.Header.DerivedFrom = &trace.Derived{SHA256: in.TraceSHA256, Verb: "cut"}
	in.Trace = &part
	if err := Write(filepath.Join(t.TempDir(), "b"), in); err != nil {
		t.Error(err)
	}
	more := sampleTrace(1, 90)
	more.Header.DerivedFrom = part.Header.DerivedFrom
	in.Trace = more
	if err := Write(filepath.Join(t.TempDir(), "b"), in); err == nil || !strings.Contains(err.Error(), "requests are 90 in the trace and 60") {
		t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	cases := map[string]func(*Input){
		"mix, slo missing":           func(in *Input) { in.Spec.Question.Mix, in.Spec.Question.SLO = "", nil },
		"sentence is not the one":    func(in *Input) { in.Spec.Question.Sentence = "Is it fine?" },
		"known are exact, aggregate": func(in *Input) { in.Profile = "rounded" },
		"no customer":                func(in *Input) { in.Spec.Approvals = in.Spec.Approvals[1:] },
		"signs other than":           func(in *Input) { in.Spec.Approvals[0].Principal = "a;rm" },
		"give the trace":             func(in *Input) { in.Trace = nil },
		"SHA-256 of the local trace": func(in *Input) { in.TraceSHA256 = "" },
		"calendar is":                func(in *Input) { in.Calendar = "minute" },
		"withdrawn":                  func(in *Input) { in.Spec.Status = spec.Withdrawn },
		"must not leave":             func(in *Input) { in.Trace.Requests[5].Adapter = "x-canary-x"; in.Forbidden = []string{"canary"} },
		// another trace than the spec's: of more requests, of other lengths, later, of other models
		"requests are 90 in the trace and 60":        func(in *Input) { in.Trace = sampleTrace(1, 90) },
		"mean prompt tokens are":                     func(in *Input) { in.Trace.Requests[3].Input.V++ },
		"requests with output tokens are 59":         func(in *Input) { in.Trace.Requests[3].Status = trace.Some(int16(500)) },
		"seconds from the first request to the last": func(in *Input) { in.Trace.Requests[59].T.V += 10_000_000 },
		"requests of a model":                        func(in *Input) { in.Trace.Requests[3].Model = "model9" },
		// the trace writer fails after it has begun
		"rows kept":       func(in *Input) { in.Trace.Header.Counts = trace.Counts{Read: 9, Kept: 9} },
		"arrives before":  func(in *Input) { in.Trace.Requests[55].T.V = 0 },
		"revision 2 must": func(in *Input) { in.Spec.Revision = 2 },
	}
	for want, spoil := range cases {
		in := input(sampleTrace(1, 60), "exact")
		spoil(&in)
		parent := t.TempDir()
		err := Write(filepath.Join(parent, "b"), in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%s: left %v behind", want, left)
		}
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := Write(dir, input(sampleTrace(1, 60), "exact"))
	if err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Fatalf("error %v for a directory that exists", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Fatalf("left %v behind", left)
	}
}

func TestModes(t *testing.T) {
	b := written(t, input(sampleTrace(1, 60), "exact"))
	err := filepath.WalkDir(b.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		want := os.FileMode(0o644)
		if d.IsDir() {
			want = 0o755
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, st.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A page for a reviewer has no script, fetches nothing, and escapes what a
// person typed.
func TestReviewIsInert(t *testing.T) {
	in := input(sampleTrace(1, 60), "exact")
	in.Spec.Question.Mix = `</p><script>alert(1)</script><img src="https://x.example/">`
	in.Spec.Question.Sentence = in.Spec.Question.Build()
	page := filesOf(t, written(t, in).Dir())[ReviewFile]
	for _, bad := range []string{"<script", "<img", "<link", "javascript:", "url(", "@import", "onload"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page has no content security policy")
	}
}
