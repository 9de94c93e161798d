package bundle

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"reprise/trace"
)

// shared opens a public file that is not kept with the project.
func shared(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/data", name))
	if err != nil {
		t.Skipf("the public file %s is not here: figures of re-identification are not held to known ones", name)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func lengthsOnly(in, out int32) trace.Request {
	return trace.Request{Input: trace.Some(in), Output: trace.Some(out), N: 1}
}

func azure(t *testing.T, name string) *trace.Trace {
	t.Helper()
	rows, err := csv.NewReader(shared(t, "azure/"+name)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := &trace.Trace{}
	for _, r := range rows[1:] {
		a, err := strconv.Atoi(r[1])
		if err != nil {
			t.Fatal(err)
		}
		b, err := strconv.Atoi(r[2])
		if err != nil {
			t.Fatal(err)
		}
		out.Requests = append(out.Requests, lengthsOnly(int32(a), int32(b)))
	}
	return out
}

func mooncake(t *testing.T) *trace.Trace {
	t.Helper()
	s := bufio.NewScanner(shared(t, "mooncake/conversation_trace.jsonl"))
	s.Buffer(nil, 1<<20)
	out := &trace.Trace{}
	for s.Scan() {
		var r struct {
			In  int32 `json:"input_length"`
			Out int32 `json:"output_length"`
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out.Requests = append(out.Requests, lengthsOnly(r.In, r.Out))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Shares of requests with (input, output) lengths of their own, as measured by
// others on the public traces (sanitization.md §2.5).
func TestReidentificationOfPublicTraces(t *testing.T) {
	for _, c := range []struct {
		name string
		load func(t *testing.T) *trace.Trace
		want float64
	}{
		{"mooncake conversation", mooncake, 98.9},
		{"azure 2023 conversation", func(t *testing.T) *trace.Trace { return azure(t, "AzureLLMInferenceTrace_conv.csv") }, 57.7},
		{"azure 2023 code", func(t *testing.T) *trace.Trace { return azure(t, "AzureLLMInferenceTrace_code.csv") }, 83.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := 100 * float64(reident(c.load(t)).UniqueInOut); math.Abs(got-c.want) > 0.05 {
				t.Errorf("%.2f %%, want %.1f %%", got, c.want)
			}
		})
	}
}
