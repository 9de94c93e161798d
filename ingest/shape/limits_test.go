package shape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// More than memory should hold is dropped, and the prompts after it are cut.
func TestTranscriptForgets(t *testing.T) {
	f := &transcriptFile{Said: []string{"m"}, Answer: conditions{"a"}}
	tr := newTranscript(f)
	tr.limit = 1 << 10
	big := fastjson.MustParse(`{"m":"` + strings.Repeat("x", 100) + `"}`)
	answer := fastjson.MustParse(`{"a":1,"m":"y"}`)
	for range 15 {
		tr.add(rows.Pos{}, big)
	}
	tr.add(rows.Pos{}, answer)
	tr.end(true)
	_, v, ok := tr.next()
	if n := len(v.GetArray("messages")); !ok || n < 2 || n > 10 || string(v.GetStringBytes("messages", "0", "content")) != notation.CutMark {
		t.Fatal(ok, n)
	}
}

// Rows that wait for their other half are let go when too many wait, each once.
func TestJoinLetsGo(t *testing.T) {
	j := newJoiner(&joinFile{By: []string{"id"}, Last: []string{"end"}, Events: []joinEventFile{{Name: "begin", When: "b"}, {Name: "end", When: "e"}}})
	text := strings.Repeat("x", 100)
	j.limit = 1 << 12
	n := 50
	for i := range n {
		j.add(rows.Pos{Item: int64(i)}, fastjson.MustParse(fmt.Sprintf(`{"id":%d,"b":%q}`, i, text)))
	}
	seen := map[int64]bool{}
	for take := 0; take < 2; take++ {
		for {
			pos, _, ok := j.next()
			if !ok {
				break
			}
			if seen[pos.Item] {
				t.Fatal("twice")
			}
			seen[pos.Item] = true
		}
		if take == 0 && (len(seen) == 0 || len(seen) > 40) {
			t.Fatalf("%d let go", len(seen))
		}
		j.end(true)
	}
	if len(seen) != n {
		t.Fatalf("%d of %d", len(seen), n)
	}
}

// Rows that are joined, and texts of tools, keep their control characters.
func TestJoinedText(t *testing.T) {
	j := newJoiner(&joinFile{By: []string{"id"}, Events: []joinEventFile{{Name: "asked", When: "q"}, {Name: "told", When: "a"}}, Last: []string{"told"}})
	for _, row := range []string{`{"id":"1","q":"\u0007 \"x\" \u007f"}`, `{"id":"1","a":"\u000b\\"}`} {
		v, err := fastjson.Parse(row)
		if err != nil {
			t.Fatal(err)
		}
		j.add(rows.Pos{}, v)
	}
	_, v, ok := j.next()
	if !ok || string(v.GetStringBytes("asked", "q")) != "\x07 \"x\" \x7f" || string(v.GetStringBytes("told", "a")) != "\v\\" {
		t.Fatalf("%v %v", ok, v)
	}
}
