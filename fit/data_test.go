package fit

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// shared returns the path of a file of the public data, or skips the test.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: %s is not here, so nothing is checked against it", path)
	}
	return path
}

// sample is a public trace as slices; zero is the first arrival as µs of the
// calendar where the file has one.
type sample struct {
	times         []int64
	input, output []int32
	blocks        [][]int32
	zero          int64
}

// load reads one of the four public traces by its name in reference.json.
func load(t testing.TB, name string) sample {
	switch name {
	case "azure2023_conv":
		return azure(t, shared(t, "data", "azure", "AzureLLMInferenceTrace_conv.csv"))
	case "azure2023_code":
		return azure(t, shared(t, "data", "azure", "AzureLLMInferenceTrace_code.csv"))
	case "mooncake_conversation":
		return mooncake(t, shared(t, "data", "mooncake", "conversation_trace.jsonl"))
	}
	return mooncake(t, shared(t, "data", "mooncake", "synthetic_trace.jsonl"))
}

func azure(t testing.TB, path string) sample {
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	check(t, err)
	var s sample
	for _, row := range rows[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.9999999", row[0])
		check(t, err)
		us := at.UnixMicro() // the 100-ns digit is cut off
		if len(s.times) == 0 {
			s.zero = us
		}
		s.times = append(s.times, us-s.zero)
		s.input = append(s.input, number(t, row[1]))
		s.output = append(s.output, number(t, row[2]))
	}
	return s
}

func mooncake(t testing.TB, path string) sample {
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	var s sample
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Timestamp int64   `json:"timestamp"` // ms
			Input     int32   `json:"input_length"`
			Output    int32   `json:"output_length"`
			IDs       []int32 `json:"hash_ids"`
		}
		check(t, json.Unmarshal(lines.Bytes(), &r))
		s.times = append(s.times, r.Timestamp*1000)
		s.input, s.output, s.blocks = append(s.input, r.Input), append(s.output, r.Output), append(s.blocks, r.IDs)
	}
	check(t, lines.Err())
	return s
}

func number(t testing.TB, s string) int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	check(t, err)
	return int32(n)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// relative is |got−want| over |want|, absolute where want is 0.
func relative(got, want float64) float64 {
	if want == 0 {
		return math.Abs(got)
	}
	return math.Abs(got-want) / math.Abs(want)
}
