package synth_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"reprise/trace"
)

// publicTraces are the traces with public request records, by short name.
var publicTraces = []string{"azure-conv", "azure-code", "mooncake-conv", "mooncake-syn"}

// public reads a public trace, or skips the test.
func public(t testing.TB, name string) *trace.Trace {
	t.Helper()
	file := map[string]string{"azure-conv": "azure/AzureLLMInferenceTrace_conv.csv", "azure-code": "azure/AzureLLMInferenceTrace_code.csv",
		"mooncake-conv": "mooncake/conversation_trace.jsonl", "mooncake-syn": "mooncake/synthetic_trace.jsonl"}[name]
	path := filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(file))
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("SKIPPED: %s is not here, so synthesis is not checked against it", path)
	}
	defer f.Close()
	out := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}, Profile: "local"}}
	if filepath.Ext(path) == ".csv" {
		azure(t, f, out)
	} else {
		out.Header.BlockTokens, out.Header.Tail = 512, trace.TailAsGiven
		mooncake(t, f, out)
	}
	n := int64(len(out.Requests))
	out.Header.Counts = trace.Counts{Read: n, Kept: n}
	return out
}

func azure(t testing.TB, f *os.File, out *trace.Trace) {
	rows, err := csv.NewReader(f).ReadAll()
	check(t, err)
	var zero int64
	for i, row := range rows[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.9999999", row[0])
		check(t, err)
		in, err := strconv.Atoi(row[1])
		check(t, err)
		gen, err := strconv.Atoi(row[2])
		check(t, err)
		if i == 0 {
			zero = at.UnixMicro()
		}
		out.Requests = append(out.Requests, request(i, at.UnixMicro()-zero, in, gen, nil))
	}
}

func mooncake(t testing.TB, f *os.File, out *trace.Trace) {
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for i := 0; lines.Scan(); i++ {
		var r struct {
			Timestamp int64   `json:"timestamp"` // ms
			Input     int     `json:"input_length"`
			Output    int     `json:"output_length"`
			IDs       []int32 `json:"hash_ids"`
		}
		check(t, json.Unmarshal(lines.Bytes(), &r))
		out.Requests = append(out.Requests, request(i, r.Timestamp*1000, r.Input, r.Output, r.IDs))
	}
	check(t, lines.Err())
}

func request(i int, us int64, in, out int, blocks []int32) trace.Request {
	return trace.Request{ID: int64(i), T: trace.Some(us), Input: trace.Some(int32(in)), Output: trace.Some(int32(out)), Blocks: blocks, N: 1}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
