package replay

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/token"
)

func prompts(t *testing.T, name, mode string, salt int64, tr *trace.Trace) (*Prompts, *token.Tokenizer) {
	t.Helper()
	tok, err := token.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := token.NewText(tok, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPrompts(text, tr, mode, salt)
	if err != nil {
		t.Fatal(err)
	}
	return p, tok
}

// randomTrace shares prefixes at random, some rows with too few blocks, too
// many, or none.
func randomTrace(n int) *trace.Trace {
	r := rng()
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	next := int32(0)
	for i := range n {
		q := trace.Request{ID: int64(i), N: 1, Input: some(1 + r.Int32N(300))}
		if i > 0 {
			from := tr.Requests[r.IntN(i)].Blocks
			q.Blocks = append(q.Blocks, from[:r.IntN(len(from)+1)]...)
		}
		for range r.IntN(12) {
			q.Blocks = append(q.Blocks, next)
			next++
		}
		tr.Requests = append(tr.Requests, q)
	}
	return tr
}

// The text of a row is exactly as long as asked by both tokenizers, whatever
// the template takes, and never empty.
func TestPromptExact(t *testing.T) {
	tr := randomTrace(200)
	for _, name := range token.Names() {
		for _, mode := range []string{CacheWorkload, CacheNone, CacheKeep} {
			p, tok := prompts(t, name, mode, 7, tr)
			for i, q := range tr.Requests {
				template := int32(i % 40)
				job := Job{Row: q.ID, Request: q}
				got, n := p.AppendPrompt(nil, &job, template)
				if want := max(q.Input.V-template, 1); n != want || tok.Count(string(got)) != int(want) {
					t.Fatalf("%s, row %d: %d tokens, says %d, want %d", name, i, tok.Count(string(got)), n, want)
				}
				after, _ := p.AppendPrompt([]byte(`{"x":"`), &job, template)
				if string(after) != `{"x":"`+string(got) {
					t.Fatalf("row %d: the text depends on what is before it", i)
				}
			}
		}
	}
}

// common returns how many leading words two texts share.
func common(a, b []byte) int {
	x, y := strings.Fields(string(a)), strings.Fields(string(b))
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// Two rows share what their blocks say, but for the chance of 1 in 2,048 that
// texts which differ begin alike.
func TestPromptSharing(t *testing.T) {
	tr := randomTrace(60)
	work, _ := prompts(t, "o200k_base", CacheWorkload, 7, tr)
	other, _ := prompts(t, "o200k_base", CacheWorkload, 8, tr)
	none, _ := prompts(t, "o200k_base", CacheNone, 7, tr)
	keep, _ := prompts(t, "o200k_base", CacheKeep, 7, tr)
	again, _ := prompts(t, "o200k_base", CacheKeep, 8, tr)
	text := func(p *Prompts, i int) []byte {
		b, _ := p.AppendPrompt(nil, &Job{Row: int64(i), Request: tr.Requests[i]}, 0)
		return b
	}
	for i := range tr.Requests {
		for j := range i {
			a, b := tr.Requests[i], tr.Requests[j]
			blocks := 0
			for blocks < min(len(a.Blocks), len(b.Blocks)) && a.Blocks[blocks] == b.Blocks[blocks] {
				blocks++
			}
			want := min(blocks*16, int(a.Input.V), int(b.Input.V))
			if got := common(text(work, i), text(work, j)); got < want || got > want+2 {
				t.Fatalf("rows %d and %d share %d tokens, want %d", i, j, got, want)
			}
			if got := common(text(none, i), text(none, j)); got > 2 {
				t.Fatalf("mode none: rows %d and %d share %d tokens", i, j, got)
			}
		}
		if got := common(text(work, i), text(other, i)); got > 2 {
			t.Fatalf("two runs share %d tokens of row %d", got, i)
		}
		if !bytes.Equal(text(keep, i), text(again, i)) {
			t.Fatalf("mode keep: row %d differs between runs", i)
		}
	}
}

func TestPromptNotes(t *testing.T) {
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 16}, Requests: []trace.Request{
		{Input: some[int32](40), Blocks: []int32{0}}, {Input: some[int32](8)}, {}, {Blocks: []int32{1, 2}},
	}}
	p, _ := prompts(t, "o200k_base", CacheWorkload, 1, tr)
	if n := p.Notes(); len(n) != 3 || !strings.HasPrefix(n[1], "1 of 4 rows have fewer blocks") {
		t.Fatal(n)
	}
	if a, b := p.Tokens(&tr.Requests[2]), p.Tokens(&tr.Requests[3]); a != 8 || b != 32 {
		t.Fatal(a, b)
	}
	if _, err := NewPrompts(nil, tr, "some", 1); err == nil {
		t.Fatal("an unknown cache mode was taken")
	}
}

// The text behind n template tokens has its blocks where the server, which
// counts from the template's first token, has its own: two rows that share k
// blocks share, template and all, exactly k of the server's.
func TestSpanAlignsBlocks(t *testing.T) {
	tr := randomTrace(80)
	for i := range tr.Requests { // long enough that a template does not eat what is shared
		tr.Requests[i].Input = some(200 + tr.Requests[i].Input.V)
	}
	p, tok := prompts(t, "o200k_base", CacheWorkload, 3, tr)
	for _, layout := range [][2]int32{{0, 0}, {3, 5}, {16, 4}, {25, 5}, {40, 0}} {
		front, back := layout[0], layout[1]
		server := func(i int) []int32 { // as the server sees it
			job := Job{Row: int64(i), Request: tr.Requests[i]}
			var ids []int32
			for k := range front {
				ids = append(ids, -1-k)
			}
			text, n := p.AppendSpan(nil, &job, front, tr.Requests[i].Input.V-back)
			got := tok.Encode(nil, string(text))
			if len(got) != int(n) || n != tr.Requests[i].Input.V-front-back {
				t.Fatalf("row %d: %d tokens, says %d", i, len(got), n)
			}
			ids = append(ids, got...)
			for k := range back {
				ids = append(ids, -1000-k)
			}
			return ids
		}
		for i := range tr.Requests {
			a := server(i)
			for j := range i {
				b, want, got := server(j), 0, 0
				x, y := tr.Requests[i].Blocks, tr.Requests[j].Blocks
				for want < min(len(x), len(y)) && x[want] == y[want] {
					want++
				}
				if want = min(want, (len(a)-int(back))/16, (len(b)-int(back))/16); want*16 < int(front) {
					want = int(front) / 16 // of the template alone
				}
				for got < min(len(a), len(b)) && a[got] == b[got] {
					got++
				}
				if got/16 != want && got/16 != want+1 || got/16 == want+1 && got%16 > 1 {
					t.Fatalf("template %d+%d, rows %d and %d: %d tokens alike, %d blocks; the trace shares %d", front, back, i, j, got, got/16, want)
				}
			}
		}
	}
}

// Every row has the same length in every cache mode; without a cache not even
// what stands in the first visible block is shared.
func TestCacheModesHaveOneLength(t *testing.T) {
	tr := randomTrace(100)
	var lengths [3][]int32
	for k, mode := range []string{CacheWorkload, CacheNone, CacheKeep} {
		p, tok := prompts(t, "o200k_base", mode, 3, tr)
		var texts []string
		for i, q := range tr.Requests {
			text, n := p.AppendSpan(nil, &Job{Row: int64(i), Request: q}, 20, q.Input.V-4)
			if tok.Count(string(text)) != int(n) {
				t.Fatalf("mode %s, row %d: %d tokens, says %d", mode, i, tok.Count(string(text)), n)
			}
			lengths[k] = append(lengths[k], n)
			for j, before := range texts {
				if mode == CacheNone && common(text, []byte(before)) > 2 {
					t.Fatalf("mode none: rows %d and %d begin alike", i, j)
				}
			}
			texts = append(texts, string(text))
		}
	}
	if !slices.Equal(lengths[0], lengths[1]) || !slices.Equal(lengths[0], lengths[2]) {
		t.Fatal("lengths differ between cache modes")
	}
}
