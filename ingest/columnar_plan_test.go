package ingest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// wideRow is a row whose prompt is most of it.
type wideRow struct {
	Arrival int64  `parquet:"arrival,timestamp(microsecond)"`
	In      int32  `parquet:"input_tokens"`
	Out     int32  `parquet:"output_tokens"`
	Model   string `parquet:"model,dict"`
	Prompt  string `parquet:"question_text"`
	Usage   struct {
		Cached int32 `parquet:"cached"`
		Note   string
	} `parquet:"usage"`
}

func wideFile(t testing.TB, rows int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[wideRow](&b, parquet.MaxRowsPerRowGroup(int64(rows/4)))
	for i := range rows {
		var text strings.Builder
		for range 100 {
			fmt.Fprintf(&text, "%x ", rng.Uint64())
		}
		r := wideRow{Arrival: 1_772_460_311_482_000 + int64(i)*1000, In: int32(i%4000 + 1), Out: 5, Model: "m", Prompt: text.String()}
		r.Usage.Cached, r.Usage.Note = 1, text.String()[:40]
		if _, err := w.Write([]wideRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func planOf(t testing.TB, args ...string) *rows.Plan {
	t.Helper()
	m, err := ParseMap(args)
	if err != nil {
		t.Fatal(err)
	}
	return newReading(m).first()
}

// Of a Parquet file only the mapped columns are read, to the member of a struct.
func TestParquetColumns(t *testing.T) {
	data := wideFile(t, 2000)
	read := func(p *rows.Plan) int64 {
		f, err := readParquet(t.Context(), "f", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if p != nil {
			f.Bind(p)
		}
		rows, err := drain(f)
		if err != nil || len(rows) != 2000 {
			t.Fatal(len(rows), err)
		}
		if p != nil {
			keys := slices.Sorted(func(yield func(string) bool) {
				for k := range rows[0].(map[string]any) {
					if !yield(k) {
						return
					}
				}
			})
			if fmt.Sprint(keys) != "[arrival input_tokens usage]" || fmt.Sprint(rows[7].(map[string]any)["usage"]) != "map[cached:1]" {
				t.Fatal(rows[7])
			}
		}
		return f.at.n
	}
	all := read(nil)
	some := read(planOf(t, "arrival=arrival", "input_tokens=input_tokens", "cached_tokens=usage.cached"))
	t.Logf("file of %d bytes: all columns %d, three columns %d", len(data), all, some)
	if all < int64(len(data)) || some > all/20 {
		t.Fatalf("read %d bytes of three columns and %d of all", some, all)
	}
}

// A damaged row group costs its own rows, and the rows around it stand.
func TestParquetDamage(t *testing.T) {
	data := wideFile(t, 2000)
	whole, err := readParquet(t.Context(), "f", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	at := whole.file.Metadata().RowGroups[1].Columns[4].MetaData.DataPageOffset
	broken := bytes.Clone(data)
	for i := range 64 {
		broken[at+int64(i)] ^= 0x5a
	}
	_, recs, bad, err := readAll(t, Inputs{Stdin: bytes.NewReader(broken), Map: mapOf(t, "arrival=arrival", "prompt=question_text", "output_tokens=output_tokens")})
	if err != nil || len(recs) != 1500 || len(bad) != 500 || bad[0].Reason != rows.CutShort || bad[0].Pos.Item != 501 {
		t.Fatal(len(recs), len(bad), err)
	}
	// The damaged column is not mapped: nothing is lost.
	l, recs, bad, err := readAll(t, Inputs{Stdin: bytes.NewReader(broken), Map: mapOf(t, "arrival=arrival", "input_tokens=input_tokens")})
	if err != nil || len(recs) != 2000 || len(bad) != 0 || l.Broken() != 0 {
		t.Fatal(len(recs), len(bad), err)
	}
	for _, n := range []int{4, 11, 100, len(data) / 2, len(data) - 1} {
		if _, err := Open(t.Context(), Inputs{Stdin: bytes.NewReader(data[:n])}); err == nil || !source.IsBroken(err) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
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
		data := readFile(t, "../testdata/columnar/"+name)
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
	data := readFile(t, "../testdata/columnar/log.parquet")
	dir := plant(t, map[string]string{"logs/tenant=a%20b/model=x/1.parquet": string(data), "logs/tenant=__HIVE_DEFAULT_PARTITION__/2.parquet": string(data)})
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{dir}, Map: mapOf(t, "arrival=arrival", "client=tenant", "model=model", "output_tokens=usage.output")})
	if err != nil || len(bad) > 0 || len(recs) != 6 || recs[0].Client != "a b" || recs[0].Model != "m" {
		t.Fatalf("%d rows %+v %v %v", len(recs), recs, bad, err)
	}
	if len(l.Skipped()) != 1 { // the second file has no tenant
		t.Fatal(l.Skipped())
	}
}
