package sanitize

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"reprise/ingest"
	"reprise/trace"
	"reprise/trace/block"
	"reprise/trace/token"
)

func shared(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED, not tested: %s is not here", filepath.Join(parts...))
	}
	return path
}

// apply runs the whole pass over one log with a new key.
func apply(t testing.TB, in ingest.Inputs, p Policy) (*trace.Trace, *Account) {
	t.Helper()
	l, err := ingest.Open(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.Open(p.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	return loaded(t)(CollectLog(t.Context(), l, p, tok, block.NewKey(), Room{}))
}

func encode(t testing.TB, tr *trace.Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Write(&b, tr.Header, tr.All()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The public traces as computed by pandas (reference.json): sums, blocks,
// distinct blocks, first and last arrival, step of the clock.
func TestPublicTraces(t *testing.T) {
	for _, c := range []struct {
		path             []string
		rows             int
		in, out          int64
		blocks, distinct int
		last             int64
		zero             string
		step             int64
		calendar         string
		size             int
		tail             trace.Tail
	}{
		{[]string{"data", "azure", "AzureLLMInferenceTrace_conv.csv"}, 19366, 22361870, 4088665, 0, 0,
			3501721937, "Thu 18:15:46.680590", 1, trace.CalendarHourOfWeek, 16, trace.TailFresh},
		{[]string{"data", "azure", "AzureLLMInferenceTrace_code.csv"}, 8819, 18059974, 245896, 0, 0,
			3435948056, "Thu 18:17:03.979960", 1, trace.CalendarHourOfWeek, 16, trace.TailFresh},
		{[]string{"data", "mooncake", "conversation_trace.jsonl"}, 12031, 144793823, 4122048, 288500, 182790,
			3536999000, "", 1000, trace.CalendarNone, 512, trace.TailAsGiven},
		{[]string{"data", "mooncake", "synthetic_trace.jsonl"}, 3993, 61194628, 595432, 121877, 43924,
			0, "", 1000, trace.CalendarNone, 512, trace.TailAsGiven},
	} {
		t.Run(c.path[len(c.path)-1], func(t *testing.T) {
			tr, a := apply(t, ingest.Inputs{Paths: []string{shared(t, c.path...)}}, DefaultPolicy())
			var in, out int64
			var blocks, distinct int
			for _, q := range tr.Requests {
				in, out, blocks = in+int64(q.Input.V), out+int64(q.Output.V), blocks+len(q.Blocks)
				for _, b := range q.Blocks {
					distinct = max(distinct, int(b)+1)
				}
			}
			if len(tr.Requests) != c.rows || a.Kept != a.Read || in != c.in || out != c.out || blocks != c.blocks || distinct != c.distinct {
				t.Fatalf("%d rows, %+v, in %d out %d, %d blocks, %d distinct", len(tr.Requests), a, in, out, blocks, distinct)
			}
			h := tr.Header
			if h.Time.Zero != c.zero || h.Time.ResolutionUS != c.step || h.Time.Calendar != c.calendar || h.BlockTokens != c.size || h.Tail != c.tail {
				t.Fatalf("header %+v", h)
			}
			if last := tr.Requests[len(tr.Requests)-1].T.V; c.last > 0 && last != c.last {
				t.Fatalf("the last arrives at %d", last)
			}
			encode(t, tr)
		})
	}
}

// A batch file has no times: lengths and prefixes are taken, nothing else.
func TestOpenAIBatch(t *testing.T) {
	tr, a := apply(t, ingest.Inputs{Paths: []string{shared(t, "data", "openai-batch", "batch.jsonl")}}, DefaultPolicy())
	if a.Kept != 2 || tr.Timed() || tr.Header.Time.Calendar != trace.CalendarNone {
		t.Fatalf("%+v %+v", a, tr.Header)
	}
	q := tr.Requests[0]
	// system 3+1+8, user 3+1+3, answer 3: both prompts are equal
	if q.From != trace.Counted || q.Input.V != 22 || q.Output.OK || q.Model != "model1" || q.Max.V != 1000 {
		t.Fatalf("%+v", q)
	}
	if got := tr.Requests[1].Blocks; len(got) != 2 || got[0] != q.Blocks[0] || got[1] == q.Blocks[1] {
		t.Fatalf("blocks %v and %v: the whole block is shared, the partial one is not", q.Blocks, got)
	}
	encode(t, tr)
}

// The same log gives the same bytes whatever the processors and the key.
func TestDeterministic(t *testing.T) {
	log := markedLog(500) // eight batches
	var want []byte
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for n := 1; n <= 8; n *= 2 {
		runtime.GOMAXPROCS(n)
		tr, a := apply(t, ingest.Inputs{Stdin: bytes.NewReader(log)}, DefaultPolicy())
		got := encode(t, tr)
		if want == nil {
			want = got
		}
		if a.Kept != 500 || !bytes.Equal(got, want) {
			t.Fatalf("%d rows, or other bytes with %d processors and another key", a.Kept, n)
		}
	}
}
