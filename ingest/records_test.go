package ingest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/rows"
	"reprise/trace"
)

var update = flag.Bool("update", false, "write the expected records anew")

// describeRecord lists what a record has, in a fixed order.
func describeRecord(r *Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", r.Pos.Line)
	if r.Pos.Line == 0 {
		fmt.Fprintf(&b, "item %d", r.Pos.Item)
	}
	add := func(name string, v any, ok bool) {
		if ok {
			fmt.Fprintf(&b, " %s=%v", name, v)
		}
	}
	add("rule", r.Rule, r.Rule != "")
	at := func(name string, t trace.Opt[int64]) { add(name, t.V, t.OK) }
	at("t", r.Arrival)
	at("first", r.FirstToken)
	at("end", r.End)
	at("ttft", r.TTFT)
	at("dur", r.Duration)
	add("relative", "", r.Relative)
	for _, s := range []struct{ name, v string }{{"id", r.RequestID}, {"parent", r.Parent}, {"session", r.Session},
		{"client", r.Client}, {"model", r.Model}, {"adapter", r.Adapter}} {
		add(s.name, s.v, s.v != "")
	}
	add("api", r.API, r.API != trace.APIUnknown)
	add("otherapi", "", r.OtherAPI)
	for _, n := range []struct {
		name string
		v    trace.Opt[int32]
	}{{"in", r.InputTokens}, {"out", r.OutputTokens}, {"cached", r.CachedTokens}, {"reasoning", r.ReasoningTokens},
		{"media", r.MediaTokens}, {"max", r.MaxTokens}} {
		add(n.name, n.v.V, n.v.OK)
	}
	add("stream", r.Stream.V, r.Stream.OK)
	add("tools", r.Tools.V, r.Tools.OK)
	add("schema", r.JSONSchema.V, r.JSONSchema.OK)
	add("n", r.N.V, r.N.OK)
	add("finish", r.Finish, r.Finish != trace.FinishUnknown)
	add("status", r.Status.V, r.Status.OK)
	add("truncated", "", r.Truncated)
	add("blocks", fmt.Sprint(r.Blocks, "@", r.BlockTokens), len(r.Blocks) > 0)
	add("parts", r.MediaParts, r.MediaParts > 0)
	add("ids", r.PromptTokens, len(r.PromptTokens) > 0)
	for _, m := range r.Messages {
		add("\n\t"+m.Role, fmt.Sprintf("%q", m.Text), true)
	}
	add("\n\tprompt", fmt.Sprintf("%q", r.Prompt), r.Prompt != "")
	add("\n\t->", fmt.Sprintf("%q", r.Output), r.HasOutput)
	return b.String()
}

// describeLog lists what a log gives: the source, the records, the rows that are
// bad and what is noted.
func describeLog(t *testing.T, known []schema, path string) []byte {
	in := Inputs{Paths: []string{path}}
	l, err := openAs(context.Background(), in, known)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s\n", l.Schema().Name, l.Found()[0].Container)
	for r, err := range l.Records() {
		var bad *rows.Error
		switch {
		case errors.As(err, &bad):
			fmt.Fprintf(&b, "%d %s %s\n", bad.Pos.Line, bad.Reason, bad.Detail)
		case err != nil:
			t.Fatal(err)
		default:
			fmt.Fprintf(&b, "%s\n", describeRecord(&r))
		}
	}
	for _, n := range l.Notes() {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.Bytes()
}

// The records of sample logs, field by field, for the sources that have such a
// file. It was read over by eye when it was written.
func TestSourceRecords(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "testdata", "logs", "*", "records.txt"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no expected records")
	}
	known, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, golden := range dirs {
		dir := filepath.Dir(golden)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			logs, _ := filepath.Glob(filepath.Join(dir, "log.*"))
			older, _ := filepath.Glob(filepath.Join(dir, "old.*"))
			logs = append(logs, older...)
			var got []byte
			for _, log := range logs {
				got = append(got, describeLog(t, known, log)...)
			}
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("gives\n%s\nwant\n%s", got, want)
			}
		})
	}
}
