package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

func readTestFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mapOf(t testing.TB, args ...string) *Mapping {
	t.Helper()
	m, err := ParseMap(args)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An Arrow file that is cut keeps the batches before the cut, and says so.
func TestArrowCut(t *testing.T) {
	for _, name := range []string{"log.lz4.feather", "log.zstd.feather"} {
		data := readTestFile(t, "../testdata/columnar/"+name)
		m := mapOf(t, "arrival=arrival", "input_tokens=usage.input", "output_tokens=usage.output", "messages=messages")
		_, recs, bad, err := readAll(t, Inputs{Stdin: bytes.NewReader(data), Map: m})
		if err != nil || len(recs) != 6 || len(bad) != 0 || recs[1].InputTokens.V != 6 || recs[1].Messages[1].Text != "hello 1" || recs[0].Arrival.V != 1772460311482000 {
			t.Fatal(name, recs, bad, err)
		}
		l, recs, bad, err := readAll(t, Inputs{Stdin: bytes.NewReader(data[:len(data)-8]), Map: m})
		if err != nil || len(recs) != 6 || len(bad) != 1 || bad[0].Reason != rows.CutShort || l.Broken() != 1 {
			t.Fatal(name, len(recs), bad, err)
		}
	}
}

// Columns of the path are columns, where the file has none of that name.
func TestPartitions(t *testing.T) {
	data := readTestFile(t, "../testdata/columnar/log.parquet")
	dir := plant(t, map[string]string{"logs/tenant=a%20b/model=x/1.parquet": string(data), "logs/tenant=__HIVE_DEFAULT_PARTITION__/2.parquet": string(data)})
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{dir}, Map: mapOf(t, "arrival=arrival", "client=tenant", "model=model", "output_tokens=usage.output")})
	if err != nil || len(bad) > 0 || len(recs) != 6 || recs[0].Client != "a b" || recs[0].Model != "m" {
		t.Fatalf("%d rows %+v %v %v", len(recs), recs, bad, err)
	}
	if len(l.Skipped()) != 1 { // the second file has no tenant
		t.Fatal(l.Skipped())
	}
}

// What is wrong with a stream is said with the file's name.
func TestArrowErrorNamesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.arrows")
	data := readTestFile(t, "../testdata/columnar/log.arrows")
	for i := 16; i < 200; i++ {
		data[i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Inputs{Paths: []string{path}}); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !source.IsBroken(err) {
		t.Error(err)
	}
}
