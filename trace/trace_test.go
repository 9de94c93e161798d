package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(name string) string {
	return filepath.Join("..", "testdata", "vectors", "v1", name)
}

// sample is a small trace that uses every column, each also absent once.
func sample() *Trace {
	seed := uint64(7)
	h := Header{
		Kind: Kind, Version: Version,
		Tool:        Tool{Name: "reprise", Version: "0.0.0", Commit: "none"},
		Tokenizer:   Named{Name: "o200k_base", SHA256: strings.Repeat("ab", 32)},
		BlockTokens: 16, Tail: TailFresh,
		Time:    Time{ResolutionUS: 1000, Calendar: CalendarHourOfWeek, Zero: "Thu 18:15:46.680000"},
		Profile: "exact",
		Counts: Counts{Read: 5, Kept: 3, Rejected: map[string]int64{"bad_time": 1},
			Excluded: map[string]int64{"proxy_cache_hit": 1}},
		Sources:     []Source{{SHA256: strings.Repeat("cd", 32), Bytes: 1234}},
		DerivedFrom: &Derived{SHA256: strings.Repeat("ef", 32), Verb: "cut", Args: []string{"--peak", "20s"}},
		Seed:        &seed,
	}
	one := Some[int32]
	return &Trace{Header: h, Requests: []Request{
		{ID: 0, T: Some[int64](0), Session: one(0), Turn: one(0), Client: one(0), API: Chat, Model: "model1", Adapter: "adapter1",
			Input: one(40), Output: one(9), Cached: one(0), Reason: one(2), Media: one(0), Max: one(100), InChars: one(160), OutCh: one(30),
			From: Counted, Blocks: []int32{0, 1, 2}, Prefix: one(0), Stream: Some(true), Tools: Some(false), Schema: Some(false),
			ToolTok: one(0), SchemaT: one(0), N: 1, Finish: FinishStop, Status: Some[int16](200), TTFT: Some[int64](52_000), Dur: Some[int64](900_000)},
		{ID: 1, T: Some[int64](1_000_000), N: 2, From: Logged},
		{ID: 2, T: Some[int64](1_000_000), Session: one(0), Turn: one(1), Parent: Some[int64](0), API: Completions, Input: one(33), Output: one(1),
			From: Estimated, Blocks: []int32{0, 1, 3}, Prefix: one(32), N: 1, Finish: FinishLength, Status: Some[int16](429)},
	}}
}

func encode(t *testing.T, tr *Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tr.Header, tr.All()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, b []byte) *Trace {
	t.Helper()
	tr, err := Load(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestRoundTrip(t *testing.T) {
	in := sample()
	out := decode(t, encode(t, in))
	if !reflect.DeepEqual(in, out) {
		t.Fatalf("got %+v\nwant %+v", out, in)
	}
	if !bytes.Equal(encode(t, in), encode(t, out)) {
		t.Fatal("the same trace gave two encodings")
	}
}

// The golden file is version 1 for good: later builds must read it.
func TestGolden(t *testing.T) {
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden("x")), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden("sample.trace.parquet"), encode(t, sample()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(golden("sample.trace.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t, b); !reflect.DeepEqual(got, sample()) {
		t.Fatalf("the golden trace reads as %+v", got)
	}
}

// Row groups are cut at 65,536 rows and lists survive the seams.
func TestManyRows(t *testing.T) {
	const n = 70_001
	tr := &Trace{Header: sample().Header}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range int64(n) {
		r := Request{ID: i, T: Some(i * 10), N: 1, Input: Some(rng.Int32N(1 << 20))}
		for range rng.IntN(4) {
			r.Blocks = append(r.Blocks, rng.Int32())
		}
		tr.Requests = append(tr.Requests, r)
	}
	tr.Header.Counts = Counts{Read: n, Kept: n, Rejected: map[string]int64{}, Excluded: map[string]int64{}}
	if out := decode(t, encode(t, tr)); !reflect.DeepEqual(out.Requests, tr.Requests) {
		t.Fatal("70,001 rows do not survive a round trip")
	}
}

func TestWriteRefuses(t *testing.T) {
	cases := map[string]func(*Trace){
		"has id 7":               func(tr *Trace) { tr.Requests[1].ID = 7 },
		"arrives before":         func(tr *Trace) { tr.Requests[0].T.V = 2_000_000 },
		"some have none":         func(tr *Trace) { tr.Requests[2].T = Opt[int64]{} },
		"not an earlier row":     func(tr *Trace) { tr.Requests[2].Parent = Some[int64](2) },
		"names a client":         func(tr *Trace) { tr.Header.Leaves = true },
		"negative count":         func(tr *Trace) { tr.Requests[0].Output.V = -1 },
		"asks for 0 completions": func(tr *Trace) { tr.Requests[1].N = 0 },
		"kept + rejected":        func(tr *Trace) { tr.Header.Counts.Read = 4 },
		"3 were written": func(tr *Trace) {
			tr.Header.Counts.Kept, tr.Header.Counts.Read = 2, 4
		},
		"block_tokens":  func(tr *Trace) { tr.Header.BlockTokens = 0 },
		"tail is":       func(tr *Trace) { tr.Header.Tail = "half" },
		"calendar is":   func(tr *Trace) { tr.Header.Time.Calendar = "lunar" },
		"version is 2":  func(tr *Trace) { tr.Header.Version = 2 },
		"resolution_us": func(tr *Trace) { tr.Header.Time.ResolutionUS = -1 },
	}
	for want, spoil := range cases {
		tr := sample()
		spoil(tr)
		if err := Write(&bytes.Buffer{}, tr.Header, tr.All()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func TestHeaderStrict(t *testing.T) {
	good, err := sample().Header.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeHeader(good); err != nil {
		t.Fatal(err)
	}
	for want, bad := range map[string]string{
		"unknown key":   strings.Replace(good, `"kind"`, `"extra":1,"kind"`, 1),
		"duplicate key": strings.Replace(good, `"kind"`, `"version":1,"kind"`, 1),
		"after the end": good + "{}",
		"kind is":       strings.Replace(good, Kind, "reprise.other", 1),
	} {
		if _, err := decodeHeader(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// A file damaged at any place is an error, or rows that keep the rules of a
// trace; never a panic.
func TestDamage(t *testing.T) {
	good := encode(t, sample())
	want := sample()
	for i := 0; i < len(good); i += 13 {
		bad := bytes.Clone(good)
		bad[i] ^= 0xff
		if tr, err := Load(bytes.NewReader(bad), int64(len(bad))); err == nil {
			encode(t, tr) // what was read must still keep the rules of Write
		}
		short := good[:i]
		if tr, err := Load(bytes.NewReader(short), int64(len(short))); err == nil {
			t.Fatalf("a trace cut at byte %d of %d was read: %v", i, len(good), len(tr.Requests))
		}
	}
	if got := decode(t, good); !reflect.DeepEqual(got, want) {
		t.Fatal("the undamaged file no longer reads")
	}
}

func FuzzLoad(f *testing.F) {
	var b bytes.Buffer
	s := sample()
	if err := Write(&b, s.Header, s.All()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Load(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		encode(t, tr)
	})
}

func TestWindow(t *testing.T) {
	tr := sample()
	out, err := tr.Window(1_000_000, 2_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Requests) != 2 || out.Header.Counts.Excluded["outside_window"] != 1 || out.Header.Counts.Check() != nil {
		t.Fatalf("kept %d, counts %+v", len(out.Requests), out.Header.Counts)
	}
	last := out.Requests[1]
	if last.T.V != 0 || last.ID != 1 || last.Parent.OK || last.Turn.V != 0 || last.Prefix.OK {
		t.Fatalf("the last request is not renumbered: %+v", last)
	}
	if !reflect.DeepEqual(last.Blocks, []int32{0, 1, 2}) {
		t.Fatalf("blocks %v", last.Blocks)
	}
	if out.Header.Time.Zero != "Thu 18:15:47.680000" {
		t.Fatalf("zero %q", out.Header.Time.Zero)
	}
	encode(t, out)
	if tr.Requests[2].Blocks[2] != 3 {
		t.Fatal("cutting changed the source")
	}
	whole, err := tr.Window(0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(whole.Requests, tr.Requests) {
		t.Fatalf("the window of everything differs:\n%+v\n%+v", whole.Requests, tr.Requests)
	}
}

func TestWindowRefuses(t *testing.T) {
	tr := sample()
	if _, err := tr.Window(5, 5); err == nil {
		t.Fatal("an empty window was cut")
	}
	for i := range tr.Requests {
		tr.Requests[i].T = Opt[int64]{}
	}
	if _, err := tr.Window(0, 5); err == nil {
		t.Fatal("a trace without times was cut")
	}
}

// The zero label wraps over the week's end and over midnight.
func TestShiftZero(t *testing.T) {
	for _, c := range []struct {
		time Time
		by   int64
		want string
	}{
		{Time{Calendar: CalendarHourOfWeek, Zero: "Sun 23:59:59.500000"}, 600_000, "Mon 00:00:00.100000"},
		{Time{Calendar: CalendarDate, Zero: "2023-11-16T23:59:59.500000Z"}, 600_000, "2023-11-17T00:00:00.100000Z"},
		{Time{Calendar: CalendarNone}, 600_000, ""},
	} {
		if got, err := shiftZero(c.time, c.by); err != nil || got != c.want {
			t.Errorf("%+v + %d µs = %q, %v; want %q", c.time, c.by, got, err, c.want)
		}
	}
}

// Same rows, same bytes: the digest of the golden file is stable across runs.
func TestDeterministic(t *testing.T) {
	a, b := sha256.Sum256(encode(t, sample())), sha256.Sum256(encode(t, sample()))
	if a != b {
		t.Fatalf("%s != %s", hex.EncodeToString(a[:4]), hex.EncodeToString(b[:4]))
	}
}
