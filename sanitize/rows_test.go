package sanitize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reprise/ingest"
	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
)

// mixed is a log with everything in it that waits for a number: sessions whose
// prompts grow, parents, clients, models, copies, failed calls made again; times
// in no order and with ties.
func mixed(rng *rand.Rand, n int) []ingest.Record {
	var out []ingest.Record
	texts := map[string]string{}
	for i := range n {
		if i > 0 && rng.IntN(20) == 0 {
			out = append(out, out[rng.IntN(i)]) // a copy
			continue
		}
		session := fmt.Sprint("s", rng.IntN(n/5+1))
		if texts[session] == "" {
			texts[session] = strings.Repeat("system prompt ", rng.IntN(8))
		}
		texts[session] += fmt.Sprint(rng.IntN(1000), " ")
		r := at(int64(1_700_000_000_000_000+rng.IntN(n)*1000), text(texts[session]))
		r.Session, r.Client, r.Model = session, fmt.Sprint("c", rng.IntN(9)), fmt.Sprint("m", rng.IntN(3))
		r.RequestID, r.Duration = fmt.Sprint("r", i), trace.Some(int64(rng.IntN(3000)))
		if rng.IntN(3) == 0 && i > 0 {
			r.Parent = fmt.Sprint("r", rng.IntN(i+1))
		}
		if r.Status = trace.Some[int16](200); rng.IntN(6) == 0 {
			r.Status.V = 503
			again := r
			again.RequestID, again.Arrival.V, again.Status.V = fmt.Sprint("again", i), r.Arrival.V+5000, 200
			out = append(out, again)
		}
		out = append(out, r)
	}
	return out[:n]
}

func collected(t testing.TB, records []ingest.Record, several bool, memory int) (*trace.Trace, *Account) {
	t.Helper()
	p := DefaultPolicy()
	p.BlockTokens = 4
	return loaded(t)(Collect(t.Context(), seqOf(records...), several, p, words{}, block.NewKey(), Room{Dir: t.TempDir(), Memory: memory}))
}

// Whatever the memory and the processors, the bytes are the same.
func TestMemoryNeverShows(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 70, 700} {
		records := mixed(rng, n)
		want, account := collected(t, records, false, 0)
		if n == 700 && (account.Excluded[Duplicate] == 0 || account.Excluded[Retry] == 0) {
			t.Fatalf("the log is too plain: %v", account.Excluded)
		}
		for _, memory := range []int{3000, 20_000} {
			for _, procs := range []int{1, 2} {
				runtime.GOMAXPROCS(procs)
				got, a := collected(t, records, false, memory)
				if !reflect.DeepEqual(a, account) {
					t.Fatalf("%d rows in %d bytes: %+v, want %+v", n, memory, a, account)
				}
				if !bytes.Equal(encode(t, got), encode(t, want)) {
					t.Fatalf("%d rows in %d bytes with %d processors: other bytes", n, memory, procs)
				}
			}
		}
	}
}

// Blocks that a source gave go through files as well.
func TestGivenBlocksInFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var records []ingest.Record
	for i := range 400 {
		r := ingest.Record{BlockTokens: 16, InputTokens: trace.Some[int32](16 * 9)}
		r.Arrival = trace.Some(int64(1_700_000_000_000_000 - i*1000))
		for j := range 8 {
			r.Blocks = append(r.Blocks, int64(rng.IntN(40)*8+j))
		}
		records = append(records, r)
	}
	for i := range records {
		records[i].InputTokens.V = int32(16*8 + 3) // the partial last block is left out
	}
	want, _ := collected(t, records, false, 0)
	got, _ := collected(t, records, false, 2000)
	if len(want.Requests[0].Blocks) != 9 || !bytes.Equal(encode(t, got), encode(t, want)) {
		t.Fatal("other bytes")
	}
}

// What a row is written as is what is read back, and no bytes make it panic.
func TestRowRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		r := randomRow(rng)
		body := r.append(r.head.append(nil))
		var got row
		rest, err := got.decode(body)
		if err != nil || !reflect.DeepEqual(normal(got), normal(r)) || !bytes.Equal(rest, r.append(nil)) {
			t.Fatalf("%+v\nread back as\n%+v (%v)", r, got, err)
		}
	}
}

func normal(r row) row {
	if len(r.digests) == 0 {
		r.digests = nil
	}
	return r
}

func randomRow(rng *rand.Rand) row {
	some := func() trace.Opt[int32] {
		if rng.IntN(2) == 0 {
			return trace.Opt[int32]{}
		}
		return trace.Some(rng.Int32())
	}
	flag := func() trace.Opt[bool] {
		if rng.IntN(2) == 0 {
			return trace.Opt[bool]{}
		}
		return trace.Some(rng.IntN(2) == 0)
	}
	r := row{relative: rng.IntN(2) == 0, given: rng.IntN(2) == 0, fresh: rng.IntN(3), attempt: int32(rng.IntN(3)),
		head: head{file: int32(rng.IntN(3)), model: int32(rng.IntN(3)), adapter: int32(rng.IntN(3))}}
	for _, k := range r.keys() {
		if rng.IntN(2) == 0 {
			*k = spill.Key{Hi: rng.Uint64(), Lo: rng.Uint64()}
		}
	}
	q := &r.req
	q.N = int16(1 + rng.IntN(3))
	for _, c := range r.counts() {
		*c = some()
	}
	q.Stream, q.Tools, q.Schema = flag(), flag(), flag()
	q.API, q.Finish, q.From = trace.API(rng.IntN(5)), trace.Finish(rng.IntN(7)), trace.TokensFrom(rng.IntN(3))
	if rng.IntN(2) == 0 {
		q.T, q.Status, q.TTFT, q.Dur = trace.Some(rng.Int64()), trace.Some(int16(503)), trace.Some(rng.Int64()), trace.Some(rng.Int64())
	}
	r.digests = make([]byte, rng.IntN(4)*r.size())
	for i := range r.digests {
		r.digests[i] = byte(rng.Uint32())
	}
	return r
}

// FuzzRow reads anything as a row.
func FuzzRow(f *testing.F) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 5 {
		r := randomRow(rng)
		f.Add(r.append(r.head.append(nil)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r row
		if _, err := r.decode(data); err == nil {
			_ = fmt.Sprint(r.req.API, r.req.Finish, r.req.From, r.wholeBlocks())
		}
	})
}

// A disk that is full ends the pass with one line.
func TestNoRoom(t *testing.T) {
	records := mixed(rand.New(rand.NewPCG(17, 18)), 300)
	_, err := Collect(t.Context(), seqOf(records...), false, DefaultPolicy(), words{}, block.NewKey(), Room{Dir: "no/such/folder", Memory: 2000})
	if err == nil || !strings.Contains(err.Error(), "no/such/folder") || strings.Contains(err.Error(), "\n") {
		t.Fatal(err)
	}
}

// A context that ends in any of the passes ends it.
func TestCancelled(t *testing.T) {
	records := mixed(rand.New(rand.NewPCG(19, 20)), 3000)
	rows, err := Collect(t.Context(), seqOf(records...), false, DefaultPolicy(), words{}, block.NewKey(), Room{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := trace.Write(io.Discard, rows.Header, rows.Requests(ctx)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := Collect(ctx, seqOf(records...), false, DefaultPolicy(), words{}, block.NewKey(), Room{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// files puts the records of several files one behind the other.
func files(all ...[]ingest.Record) iter.Seq2[ingest.Record, error] {
	return func(yield func(ingest.Record, error) bool) {
		for f, list := range all {
			for i, r := range list {
				r.Pos = ingest.Pos{File: fmt.Sprint("file", f), Line: int64(i + 1)}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// day is a log without ids, in which one row is there twice in truth.
func day(n int, step int64) []ingest.Record {
	var out []ingest.Record
	for i := range n {
		r := at(1_700_000_000_000_000+int64(i)*step, ingest.Record{InputTokens: trace.Some(int32(10 + i%7)), OutputTokens: trace.Some[int32](3)})
		out = append(out, r)
		if i == 40 {
			out = append(out, r)
		}
	}
	return out
}

// Windows that overlap give the log that they are windows of.
func TestOverlap(t *testing.T) {
	whole := day(100, 1000)
	for _, ids := range []bool{false, true} {
		if ids {
			for i := range whole {
				whole[i].RequestID = fmt.Sprint("r", i)
			}
		}
		rng := rand.New(rand.NewPCG(21, 22))
		for range 30 {
			from, to := rng.IntN(60), 60+rng.IntN(40)
			a, b, c := whole[:to], whole[from:], whole[from:to]
			want, _ := loaded(t)(Collect(t.Context(), files(whole), false, DefaultPolicy(), words{}, block.NewKey(), Room{}))
			got, account := loaded(t)(Collect(t.Context(), files(a, b, c), true, DefaultPolicy(), words{}, block.NewKey(), Room{}))
			if !reflect.DeepEqual(got.Requests, want.Requests) || account.Excluded[Duplicate] != int64(2*(to-from)) {
				t.Fatalf("ids %v, [0,%d) and [%d,101): %d requests, want %d, %v", ids, to, from, len(got.Requests), len(want.Requests), account.Excluded)
			}
			p := DefaultPolicy()
			p.KeepDuplicates = true
			all, _ := loaded(t)(Collect(t.Context(), files(a, b, c), true, p, words{}, block.NewKey(), Room{}))
			if len(all.Requests) != len(a)+len(b)+len(c) {
				t.Fatal("a copy was left out though copies are kept")
			}
		}
	}
}

// What may be two requests stays two: equal rows of one file, of a clock of
// whole seconds, of rows that differ in anything, or whose id is a word for
// none.
func TestNoFalseDuplicates(t *testing.T) {
	a := at(1_700_000_000_000_001, ingest.Record{InputTokens: trace.Some[int32](5)})
	b, coarse, none, long := a, a, a, a
	b.OutputTokens = trace.Some[int32](1)
	coarse.Arrival.V--
	none.RequestID = "None"
	long.RequestID, long.OutputTokens = "x", trace.Some[int32](2)
	other := long
	other.OutputTokens.V = 3
	for name, c := range map[string][2][]ingest.Record{
		"one file":      {{a, a}, {}},
		"other lengths": {{a}, {b}},
		"whole seconds": {{coarse}, {coarse}},
		"no id":         {{none, none}, {}},
		"id, lengths":   {{long}, {other}},
	} {
		tr, account := loaded(t)(Collect(t.Context(), files(c[0], c[1]), len(c[1]) > 0, DefaultPolicy(), words{}, block.NewKey(), Room{}))
		if len(tr.Requests) != 2 {
			t.Errorf("%s: %d requests, %v", name, len(tr.Requests), account.Excluded)
		}
	}
}

// call is an attempt at a prompt; ms is its arrival, dur how long it took.
func call(ms, dur int64, status int16, client, prompt string) ingest.Record {
	r := at(1_700_000_000_000_000+ms*1000, text(prompt))
	r.Status, r.Client, r.Duration = trace.Some(status), client, trace.Some(dur*1000)
	if status == 200 {
		r.OutputTokens = trace.Some[int32](9)
	}
	return r
}

func TestRetries(t *testing.T) {
	again := func(ms int64, number int16, of string) ingest.Record {
		r := call(ms, 1, 200, "", fmt.Sprint(ms))
		r.RetryOf, r.Attempt = of, trace.Some(number)
		return r
	}
	for name, c := range map[string]struct {
		log  []ingest.Record
		keep []int64 // ms of those that stay
	}{
		"failed, then well":     {[]ingest.Record{call(0, 10, 503, "c", "p"), call(50, 10, 200, "c", "p")}, []int64{50}},
		"failed three times":    {[]ingest.Record{call(0, 10, 503, "c", "p"), call(50, 10, 429, "c", "p"), call(99, 10, 500, "c", "p")}, []int64{99}},
		"another client":        {[]ingest.Record{call(0, 10, 503, "c", "p"), call(50, 10, 200, "d", "p")}, []int64{0, 50}},
		"no client":             {[]ingest.Record{call(0, 10, 503, "", "p"), call(50, 10, 200, "", "p")}, []int64{0, 50}},
		"another prompt":        {[]ingest.Record{call(0, 10, 503, "c", "p"), call(50, 10, 200, "c", "q")}, []int64{0, 50}},
		"the tail differs":      {[]ingest.Record{call(0, 10, 503, "c", "0123456789abcdefX"), call(50, 10, 200, "c", "0123456789abcdefY")}, []int64{0, 50}},
		"both well":             {[]ingest.Record{call(0, 10, 200, "c", "p"), call(50, 10, 200, "c", "p")}, []int64{0, 50}},
		"before the first ends": {[]ingest.Record{call(0, 60, 503, "c", "p"), call(50, 10, 200, "c", "p")}, []int64{0, 50}},
		"much later":            {[]ingest.Record{call(0, 10, 503, "c", "p"), call(70_000, 10, 200, "c", "p")}, []int64{0, 70_000}},
		"refused for good":      {[]ingest.Record{call(0, 10, 400, "c", "p"), call(50, 10, 200, "c", "p")}, []int64{0, 50}},
		"numbered":              {[]ingest.Record{again(0, 0, "x"), again(7, 1, "x"), again(9, 0, "y")}, []int64{7, 9}},
		"numbered, out of turn": {[]ingest.Record{again(0, 1, "x"), again(7, 0, "x")}, []int64{0}},
		"numbered alike":        {[]ingest.Record{again(0, 1, "x"), again(7, 1, "x")}, []int64{0, 7}},
	} {
		tr, a := loaded(t)(Collect(t.Context(), seqOf(c.log...), false, DefaultPolicy(), words{}, block.NewKey(), Room{}))
		var got []int64
		for _, q := range tr.Requests {
			got = append(got, q.T.V/1000+c.keep[0])
		}
		if !slices.Equal(got, c.keep) || a.Excluded[Retry] != int64(len(c.log)-len(c.keep)) {
			t.Errorf("%s: %v stay, want %v; %v", name, got, c.keep, a.Excluded)
		}
	}
}

// A prompt that the log cut shares nothing: it has the log's count and no
// blocks, and without a count what is left of it is an estimate.
func TestTruncatedPrompts(t *testing.T) {
	whole, logged, bare := text("0123456789abcdef0123"), text("0123456789abcdef0123"), text("0123456789abcdef0123")
	logged.Truncated, logged.InputTokens = true, trace.Some[int32](400)
	bare.Truncated = true
	tr, _ := applied(t, DefaultPolicy(), whole, logged, bare)
	q := tr.Requests
	if len(q[0].Blocks) != 2 || q[1].Blocks != nil || q[2].Blocks != nil {
		t.Errorf("blocks %v, %v, %v", q[0].Blocks, q[1].Blocks, q[2].Blocks)
	}
	if q[1].Input.V != 400 || q[1].From != trace.Logged || q[2].Input.V != 20 || q[2].From != trace.Estimated || q[2].InChars.OK {
		t.Errorf("%+v\n%+v", q[1], q[2])
	}
}
