package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"reprise/ingest/rows"
)

// shared returns the path of a public file that is kept beside the project.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED, not tested: %s is not here", filepath.Join(parts...))
	}
	return path
}

// readAll reads a log to its end; the last error is one that ended it.
func readAll(t testing.TB, in Inputs) (*Log, []Record, []*rows.Error, error) {
	t.Helper()
	l, err := Open(context.Background(), in)
	if err != nil {
		return nil, nil, nil, err
	}
	var out []Record
	var rejected []*rows.Error
	for r, err := range l.Records() {
		var row *rows.Error
		switch {
		case errors.As(err, &row):
			rejected = append(rejected, row)
		case err != nil:
			return l, out, rejected, err
		default:
			out = append(out, r)
		}
	}
	return l, out, rejected, nil
}

// Row counts, sums and digests of the public traces, as computed by pandas
// (reference.json).
func TestPublicTraces(t *testing.T) {
	for _, c := range []struct {
		path        []string
		schema      string
		rows        int
		in, out     int64
		blocks      bool
		naive       bool
		first, last int64
		sha         string
	}{
		{[]string{"data", "azure", "AzureLLMInferenceTrace_conv.csv"}, "azure_llm", 19366, 22361870, 4088665, false, true,
			1700158546680590, 1700162048402527, "2f1e5b666d4e3055fdbba98598ce2ec307767b9064e03e2fa46676dbcc7d0bf8"},
		{[]string{"data", "azure", "AzureLLMInferenceTrace_code.csv"}, "azure_llm", 8819, 18059974, 245896, false, true, 1700158623979960, 1700162059928016,
			"54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6"},
		{[]string{"data", "mooncake", "conversation_trace.jsonl"}, "mooncake", 12031, 144793823, 4122048, true, false, 0, 0,
			"b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"},
		{[]string{"data", "mooncake", "synthetic_trace.jsonl"}, "mooncake", 3993, 61194628, 595432, true, false, 0, 0,
			"bd070915a98fc0ed264d7cfef2ce746002eb3076a695ec31ba2674c0111ec131"},
	} {
		t.Run(c.path[len(c.path)-1], func(t *testing.T) {
			l, recs, bad, err := readAll(t, Inputs{Paths: []string{shared(t, c.path...)}})
			if err != nil {
				t.Fatal(err)
			}
			if len(bad) > 0 {
				t.Fatalf("%d rows rejected, first %v", len(bad), bad[0])
			}
			var in, out int64
			for _, r := range recs {
				in, out = in+int64(r.InputTokens.V), out+int64(r.OutputTokens.V)
				if !r.Arrival.OK || (c.blocks && (len(r.Blocks) == 0 || r.BlockTokens != 512)) || r.Relative != c.blocks {
					t.Fatalf("row %+v", r)
				}
			}
			t.Log(l.Schema(), in, out, l.Notes(), l.Unmapped())
			if l.Schema().Name != c.schema || len(recs) != c.rows || in != c.in || out != c.out {
				t.Fatalf("%s, %d rows, sums %d %d", l.Schema().Name, len(recs), in, out)
			}
			if c.first > 0 && (recs[0].Arrival.V != c.first || recs[len(recs)-1].Arrival.V != c.last) {
				t.Fatalf("from %d to %d", recs[0].Arrival.V, recs[len(recs)-1].Arrival.V)
			}
			if got := l.Sources(); len(got) != 1 || got[0].SHA256 != c.sha {
				t.Fatalf("sources %v", got)
			}
			if (l.notes.naive > 0) != c.naive {
				t.Fatalf("notes %v", l.Notes())
			}
		})
	}
}

func TestOpenAIBatch(t *testing.T) {
	for file, want := range map[string]int{"batch.jsonl": 2, "sample_job_input.jsonl": 10} {
		l, recs, bad, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "openai-batch", file)}})
		if err != nil || len(bad) > 0 {
			t.Fatal(err, bad)
		}
		if l.Schema().Name != "openai_batch" || len(recs) != want {
			t.Fatalf("%s: %v, %d rows", file, l.Schema(), len(recs))
		}
		for _, r := range recs {
			if r.Arrival.OK || len(r.Messages) != 2 || r.Messages[0].Role != "system" || r.MaxTokens.V != 1000 ||
				r.InputTokens.OK || !r.Stream.OK || r.Stream.V || r.API.String() != "chat" {
				t.Fatalf("%s: %+v", file, r)
			}
		}
	}
}
