package fit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
)

// talked is traffic with clients and, for some requests, sessions.
func talked(rng *rand.Rand, n int) *trace.Trace {
	x := traffic(rng, n)
	turns := map[int32]int32{}
	first := map[int32]int32{}
	number := func(v int32) int32 {
		if _, ok := first[v]; !ok {
			first[v] = int32(len(first))
		}
		return first[v]
	}
	clients := map[int32]int32{}
	for i := range x.Requests {
		r := &x.Requests[i]
		r.Parent = trace.Opt[int64]{}
		c := rng.Int32N(5)
		if _, ok := clients[c]; !ok {
			clients[c] = int32(len(clients))
		}
		r.Client = trace.Some(clients[c])
		if rng.IntN(4) == 0 {
			continue
		}
		s := number(rng.Int32N(int32(1 + i/4)))
		r.Session, r.Turn = trace.Some(s), trace.Some(turns[s])
		turns[s]++
	}
	return x
}

// keysOf are the keys of a part whose numbers are those of the whole, and makes
// the numbers the part's own.
func keysOf(x *trace.Trace, tail func(int32) bool) []keys.Row {
	var out []keys.Row
	own := [keys.Block + 1]map[int32]int32{}
	for i := range own {
		own[i] = map[int32]int32{}
	}
	renumber := func(id int64, what keys.What, v *int32, fresh bool) {
		if _, ok := own[what][*v]; !ok {
			own[what][*v] = int32(len(own[what]))
			if !fresh {
				out = append(out, keys.Row{Request: id, What: what, Digest: int64(*v) + 1})
			}
		}
		*v = own[what][*v]
	}
	for i := range x.Requests {
		r := &x.Requests[i]
		if r.Session.OK {
			renumber(r.ID, keys.Session, &r.Session.V, false)
		}
		renumber(r.ID, keys.Client, &r.Client.V, false)
		r.Blocks = append([]int32(nil), r.Blocks...)
		for j := range r.Blocks {
			renumber(r.ID, keys.Block, &r.Blocks[j], j == len(r.Blocks)-1 && tail(r.Blocks[j]))
		}
	}
	return out
}

func keyFile(t testing.TB, rows []keys.Row) *keys.File {
	t.Helper()
	var b bytes.Buffer
	w := keys.NewWriter(&b)
	for _, r := range rows {
		check(t, w.Write(r))
	}
	check(t, w.Close(keys.Header{Key: "k"}))
	f, err := keys.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	check(t, err)
	return f
}

// TestCrossingIsWhole: parts with keys have the spec of the whole to the byte,
// held whole or in parts.
func TestCrossingIsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 4 {
		x := talked(rng, 500+rng.IntN(500))
		uses := map[int32]int{}
		for _, r := range x.Requests {
			for _, b := range r.Blocks {
				uses[b]++
			}
		}
		var shards []Shard
		for i, part := range dealt(rng, x) {
			rows := keysOf(part, func(b int32) bool { return uses[b] == 1 })
			shards = append(shards, Shard{Name: fmt.Sprint("part ", i), File: written(t, part), Keys: keyFile(t, rows)})
		}
		for _, l := range []Limits{DefaultLimits(), {Rows: 100, Blocks: 500, Sample: 200}} {
			whole, err := FitShards([]Shard{{Name: "whole", File: written(t, x)}}, Options{}, l, nil)
			check(t, err)
			got, err := FitShards(shards, Options{}, l, nil)
			check(t, err)
			a, err := spec.Encode(whole)
			check(t, err)
			b, err := spec.Encode(got)
			check(t, err)
			if !bytes.Equal(a, b) {
				t.Fatal(firstDiff(string(a), string(b)))
			}
		}
	}
}

// TestCrossingRefuses: keys that do not fit their trace are told, whatever is
// wrong with them.
func TestCrossingRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	x := talked(rng, 400)
	parts := dealt(rng, x)
	rows := keysOf(parts[0], func(int32) bool { return false })
	first := Shard{Name: "a", File: written(t, parts[0])}
	second := Shard{Name: "b", Keys: keyFile(t, keysOf(parts[1], func(int32) bool { return false })), File: written(t, parts[1])}
	for name, edit := range map[string]func([]keys.Row) []keys.Row{
		"a session without its digest": func(r []keys.Row) []keys.Row { return without(r, keys.Session) },
		"a client without its digest":  func(r []keys.Row) []keys.Row { return without(r, keys.Client) },
		"more blocks than the trace": func(r []keys.Row) []keys.Row {
			return append([]keys.Row{{Request: 0, What: keys.Block, Digest: 1 << 40}, {Request: 0, What: keys.Block, Digest: 1 << 41}}, r...)
		},
		"requests out of order": func(r []keys.Row) []keys.Row { return append(append([]keys.Row{}, r[len(r)/2:]...), r...) },
		"a digest of zero":      func(r []keys.Row) []keys.Row { r[0].Digest = 0; return r },
	} {
		first.Keys = keyFile(t, edit(append([]keys.Row(nil), rows...)))
		if _, err := FitShards([]Shard{first, second}, Options{}, DefaultLimits(), nil); err == nil || !strings.Contains(err.Error(), "do not fit the trace") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func without(rows []keys.Row, what keys.What) []keys.Row {
	var out []keys.Row
	for _, r := range rows {
		if r.What != what {
			out = append(out, r)
		}
	}
	return out
}
