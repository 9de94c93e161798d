package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

func planOf(t testing.TB, paths ...string) *rows.Plan {
	t.Helper()
	p := rows.NewPlan()
	for _, path := range paths {
		p.Slot(path)
	}
	return p
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
	some := read(planOf(t, "arrival", "input_tokens", "usage.cached"))
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
	read := func(paths ...string) (kept int, lost []int64, damage error) {
		p, err := readParquet(t.Context(), "f", bytes.NewReader(broken), int64(len(broken)))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.Bind(planOf(t, paths...))
		for {
			pos, err := p.Next()
			var row *rows.Error
			switch {
			case errors.Is(err, io.EOF):
				return kept, lost, p.Damage()
			case errors.As(err, &row) && row.Reason == rows.CutShort:
				lost = append(lost, pos.Item)
			case err != nil:
				t.Fatal(err)
			default:
				kept++
			}
		}
	}
	if kept, lost, damage := read("arrival", "question_text", "output_tokens"); kept != 1500 || len(lost) != 500 || lost[0] != 501 || damage == nil {
		t.Fatal(kept, len(lost), damage)
	}
	// The damaged column is not mapped: nothing is lost.
	if kept, lost, damage := read("arrival", "input_tokens"); kept != 2000 || len(lost) != 0 || damage != nil {
		t.Fatal(kept, len(lost), damage)
	}
	for _, n := range []int{4, 11, 100, len(data) / 2, len(data) - 1} {
		if _, err := readParquet(t.Context(), "f", bytes.NewReader(data[:n]), int64(n)); !source.IsBroken(err) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}
