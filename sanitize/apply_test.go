package sanitize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"reprise/ingest"
	"reprise/ingest/rows"
	"reprise/trace"
	"reprise/trace/block"
)

func seqOf(records ...ingest.Record) iter.Seq2[ingest.Record, error] {
	return func(yield func(ingest.Record, error) bool) {
		for i, r := range records {
			r.Pos = ingest.Pos{File: "log", Line: int64(i + 1)}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// loaded reads the requests of rows.
func loaded(t testing.TB) func(*Rows, error) (*trace.Trace, *Account) {
	return func(r *Rows, err error) (*trace.Trace, *Account) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		tr, err := r.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tr, r.Account
	}
}

func applied(t testing.TB, p Policy, records ...ingest.Record) (*trace.Trace, *Account) {
	t.Helper()
	tr, a := loaded(t)(Collect(t.Context(), seqOf(records...), false, p, words{}, block.NewKey(), Room{}))
	if err := a.Counts().Check(); err != nil {
		t.Fatal(err)
	}
	encode(t, tr)
	return tr, a
}

// words is a tokenizer of one token a byte.
type words struct{}

func (words) Name() string   { return "bytes" }
func (words) SHA256() string { return "00" }
func (words) Encode(dst []int32, text string) []int32 {
	for i := range len(text) {
		dst = append(dst, int32(text[i]))
	}
	return dst
}

func text(s string) ingest.Record { return ingest.Record{Prompt: s, HasPrompt: true} }

func at(us int64, r ingest.Record) ingest.Record {
	r.Arrival = trace.Some(us)
	return r
}

// Sharing of blocks is sharing of whole blocks of tokens, for any prompts.
func TestBlocksAreSharedPrefixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := DefaultPolicy()
	p.BlockTokens = 4
	var records []ingest.Record
	for range 150 {
		var b strings.Builder
		for range rng.IntN(24) {
			b.WriteByte("ab"[rng.IntN(8)/7])
		}
		records = append(records, text(b.String()))
	}
	tr, _ := applied(t, p, records...)
	for i, x := range tr.Requests {
		if want := (int(x.Input.V) + 3) / 4; len(x.Blocks) != want {
			t.Fatalf("%d blocks for %d tokens", len(x.Blocks), x.Input.V)
		}
		for j, y := range tr.Requests[:i] {
			common := 0
			a, b := records[i].Prompt, records[j].Prompt
			for common < min(len(a), len(b)) && a[common] == b[common] {
				common++
			}
			if got := block.Shared(x.Blocks, y.Blocks); got != common/4 {
				t.Fatalf("%q and %q share %d blocks, want %d", a, b, got, common/4)
			}
		}
	}
}

// The number of blocks follows the server's count, and what lies beyond our
// tokens is shared with nothing.
func TestBlocksFollowLoggedCount(t *testing.T) {
	p := DefaultPolicy()
	p.BlockTokens = 4
	with := func(n int32) ingest.Record {
		r := text("abcdefghijkl")
		r.InputTokens = trace.Some(n)
		return r
	}
	tr, _ := applied(t, p, with(12), with(20), with(6), with(3))
	want := [][]int32{{0, 1, 2}, {0, 1, 2, 3, 4}, {0, 5}, {6}}
	for i, q := range tr.Requests {
		if !reflect.DeepEqual(q.Blocks, want[i]) || q.From != trace.Logged {
			t.Errorf("%d tokens: blocks %v, want %v", q.Input.V, q.Blocks, want[i])
		}
	}
}

// Models, adapters and, if the policy says so, clients share nothing.
// TestFeatureTokens: tools and schemas have the tokens of their text; where the
// log has no text, none are made up.
func TestFeatureTokens(t *testing.T) {
	yes, no := trace.Some(true), trace.Some(false)
	tr, _ := applied(t, DefaultPolicy(),
		ingest.Record{HasPrompt: true, Messages: []ingest.Message{{Role: "user", Text: "x"}}, Tools: yes, ToolText: "[{}]", JSONSchema: yes, SchemaText: `{"a":1}`},
		ingest.Record{HasPrompt: true, Prompt: "x", Tools: yes, JSONSchema: yes},
		ingest.Record{HasPrompt: true, Prompt: "x", Tools: no, JSONSchema: no},
		ingest.Record{InputTokens: trace.Some[int32](5), JSONSchema: yes, SchemaText: `{"a":12}`})
	for i, want := range []struct{ tools, schema trace.Opt[int32] }{
		{trace.Some[int32](1 + 4), trace.Some[int32](7)}, {}, {tools: trace.Some[int32](0)}, {schema: trace.Some[int32](8)}} {
		if q := tr.Requests[i]; q.ToolTok != want.tools || q.SchemaT != want.schema {
			t.Errorf("request %d: tools %v, schema %v; want %v and %v", i, q.ToolTok, q.SchemaT, want.tools, want.schema)
		}
	}
}

func TestIsolation(t *testing.T) {
	a, b, c, d := text("0123456789abcdef"), text("0123456789abcdef"), text("0123456789abcdef"), text("0123456789abcdef")
	b.Model, c.Adapter, d.Client = "m", "a", "c"
	for isolate, want := range map[bool]int32{false: 0, true: 3} {
		p := DefaultPolicy()
		p.IsolateClients = isolate
		tr, _ := applied(t, p, a, b, c, d)
		if got := []int32{tr.Requests[1].Blocks[0], tr.Requests[2].Blocks[0], tr.Requests[3].Blocks[0]}; !reflect.DeepEqual(got, []int32{1, 2, want}) {
			t.Errorf("isolated %v: %v", isolate, got)
		}
	}
}

// Rows come in any order; numbers follow arrival, ties the input.
func TestOrderAndNumbers(t *testing.T) {
	row := func(us int64, session, model, id, parent string) ingest.Record {
		return at(us, ingest.Record{Session: session, Client: session, Model: model, RequestID: id, Parent: parent})
	}
	base := int64(1_700_000_000_000_000)
	tr, _ := applied(t, DefaultPolicy(),
		row(base+30, "s2", "x", "c", "a"), row(base+10, "s1", "y", "a", ""), row(base+30, "s1", "z", "d", "zz"), row(base+20, "s2", "y", "b", "c"))
	var got []string
	for _, q := range tr.Requests {
		got = append(got, fmt.Sprintf("%d %d.%d c%d %s %v", q.T.V, q.Session.V, q.Turn.V, q.Client.V, q.Model, q.Parent))
	}
	want := []string{"0 0.0 c0 model1 {0 false}", "10 1.0 c1 model1 {0 false}", "20 1.1 c1 model2 {0 true}", "20 0.1 c0 model3 {0 false}"}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q", got)
	}
	if h := tr.Header.Time; h.ResolutionUS != 10 || h.Zero != "Tue 22:13:20.000010" {
		t.Fatalf("%+v", h)
	}
}

func TestCalendar(t *testing.T) {
	for calendar, zero := range map[string]string{trace.CalendarNone: "", trace.CalendarHourOfWeek: "Tue 22:13:20.000000", trace.CalendarDate: "2023-11-14T22:13:20.000000Z"} {
		p := DefaultPolicy()
		p.Calendar = calendar
		tr, _ := applied(t, p, at(1_700_000_000_000_000, ingest.Record{}), at(1_700_000_001_000_000, ingest.Record{}))
		if h := tr.Header.Time; h.Zero != zero || h.ResolutionUS != 1_000_000 {
			t.Errorf("%s: %+v", calendar, h)
		}
	}
}

func TestClockChoice(t *testing.T) {
	rel := func(us int64) ingest.Record { r := at(us, ingest.Record{}); r.Relative = true; return r }
	tr, a := applied(t, DefaultPolicy(), rel(5000), rel(9000), at(1_700_000_000_000_000, ingest.Record{}), ingest.Record{})
	if a.Rejected[MixedClock] != 1 || a.Rejected[NoTime] != 1 || tr.Requests[1].T.V != 4000 || tr.Header.Time.Calendar != trace.CalendarNone {
		t.Fatalf("%+v %+v", a, tr.Header.Time)
	}
}

// What the server left out is counted and marked as counted; absent is not zero.
func TestCounts(t *testing.T) {
	zero := text("abc")
	zero.InputTokens, zero.OutputTokens, zero.Output, zero.HasOutput = trace.Some[int32](0), trace.Some[int32](0), "four", true
	media := text("abc")
	media.MediaParts = 1
	tr, _ := applied(t, DefaultPolicy(), zero, media, ingest.Record{})
	q := tr.Requests
	if q[0].Input.V != 3 || q[0].Output.V != 4 || q[0].From != trace.Counted || q[0].OutCh.V != 4 {
		t.Errorf("zero usage: %+v", q[0])
	}
	if q[1].From != trace.Estimated || q[1].Media.OK || q[1].Output.OK {
		t.Errorf("an image of unknown cost: %+v", q[1])
	}
	if q[2].Input.OK || q[2].Blocks != nil || q[2].N != 1 {
		t.Errorf("an empty row: %+v", q[2])
	}
}

func TestTooBad(t *testing.T) {
	a := newAccount()
	a.Read = 40
	for i := range 7 {
		a.reject(ingest.BadTime, ingest.Pos{File: "a.jsonl", Line: int64(i + 1)})
	}
	a.reject(rows.BadJSON, ingest.Pos{File: "b.json", Item: 4})
	err := a.TooBad(0.05)
	if err == nil || err.Error() != "8 of 40 rows cannot be used, more than 5 %: bad_time 7 (a.jsonl:1, a.jsonl:2, a.jsonl:3, a.jsonl:4, a.jsonl:5); bad_json 1 (b.json item 4); mend the log or raise --max-bad" {
		t.Fatal(err)
	}
	if a.TooBad(0.2) != nil || newAccount().TooBad(0) != nil {
		t.Fatal("a share that is allowed is too bad")
	}
}

func TestPolicy(t *testing.T) {
	p, err := ParsePolicy([]byte("allow_models: [a, b]\ncalendar: none\nmax_bad: 0.1\n"))
	if err != nil || len(p.AllowModels) != 2 || p.Calendar != "none" || p.BlockTokens != 16 || p.MaxBad != 0.1 {
		t.Fatal(p, err)
	}
	for text, want := range map[string]string{"calender: none\n": "calendar", "calendar: lunar\n": "lunar", "block_tokens: 0\n": "block_tokens", "max_bad: 2\n": "max_bad"} {
		if _, err := ParsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Two keys, the same bytes, in a log with text and every kind of name.
func TestKeyNeverShows(t *testing.T) {
	var records []ingest.Record
	for i := range 300 {
		r := at(int64(1_700_000_000_000_000+i*997), text(strings.Repeat("abc", i%40)))
		r.Model, r.Client, r.Session = fmt.Sprint("m", i%3), fmt.Sprint("c", i%5), fmt.Sprint("s", i%11)
		records = append(records, r)
	}
	a, _ := applied(t, DefaultPolicy(), records...)
	b, _ := applied(t, DefaultPolicy(), records...)
	if !bytes.Equal(encode(t, a), encode(t, b)) {
		t.Fatal("the key shows in the trace")
	}
}

// ordered keeps the order, stops at errors and cancellation, and leaves no
// goroutine behind: the bubble would not end with one.
func TestOrdered(t *testing.T) {
	boom, odd := errors.New("boom"), errors.New("odd")
	count := func(n int, err error) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range n {
				var err error
				if i == 70 {
					err = odd // belongs to its value
				}
				if !yield(i, err) {
					return
				}
			}
			if err != nil {
				yield(0, err)
			}
		}
	}
	run := func(ctx context.Context, seq iter.Seq2[int, error], emit func(*int) error) error {
		return ordered(ctx, seq, stage[int, int]{workers: 3, emit: emit, weigh: func(v *int) int { return *v },
			newWork: func() func(*int, error, *int) {
				return func(v *int, err error, out *int) {
					if *out = 2 * *v; err != nil {
						*out = 0
					}
				}
			},
			isValue: func(err error) bool { return err == odd }})
	}
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 5000} {
		for _, fail := range []error{nil, boom} {
			synctest.Test(t, func(t *testing.T) {
				next := 0
				err := run(t.Context(), count(n, fail), func(v *int) error {
					if *v != 2*next && next != 70 {
						t.Fatalf("%d in place %d", *v, next)
					}
					next++
					return nil
				})
				if err != fail || next != n {
					t.Fatalf("%d of %d, %v", next, n, err)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if err := run(t.Context(), count(5000, nil), func(*int) error { return boom }); err != boom {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := run(ctx, count(5000, nil), func(*int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}
