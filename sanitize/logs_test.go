package sanitize

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/ingest"
	"reprise/trace"
)

var update = flag.Bool("update", false, "write the expected traces anew")

func logsDir(parts ...string) string {
	return filepath.Join(append([]string{"..", "testdata", "logs"}, parts...)...)
}

// describe is a trace as text: its clock, its account, and what each row has.
func describe(tr *trace.Trace) []byte {
	var b bytes.Buffer
	h := tr.Header
	fmt.Fprintf(&b, "blocks of %d tokens, tail %s, clock %s %q to %d us\n", h.BlockTokens, h.Tail, h.Time.Calendar, h.Time.Zero, h.Time.ResolutionUS)
	counts, _ := json.Marshal(h.Counts)
	fmt.Fprintf(&b, "%s\n", counts)
	for i := range tr.Requests {
		q := &tr.Requests[i]
		var parts []string
		add := func(name string, v any, ok bool) {
			if ok {
				parts = append(parts, fmt.Sprintf("%s=%v", name, v))
			}
		}
		add("t", q.T.V, q.T.OK)
		add("session", fmt.Sprint(q.Session.V, ".", q.Turn.V), q.Session.OK)
		add("client", q.Client.V, q.Client.OK)
		add("api", q.API, q.API != trace.APIUnknown)
		add("model", q.Model, q.Model != "")
		add("in", q.Input.V, q.Input.OK)
		add("out", q.Output.V, q.Output.OK)
		add("cached", q.Cached.V, q.Cached.OK)
		add("reasoning", q.Reason.V, q.Reason.OK)
		add("media", q.Media.V, q.Media.OK)
		add("max", q.Max.V, q.Max.OK)
		add("chars", q.InChars.V, q.InChars.OK)
		add("outchars", q.OutCh.V, q.OutCh.OK)
		add("from", q.From, true)
		add("stream", q.Stream.V, q.Stream.OK)
		add("tools", q.Tools.V, q.Tools.OK)
		add("tooltokens", q.ToolTok.V, q.ToolTok.OK)
		add("schema", q.Schema.V, q.Schema.OK)
		add("n", q.N, q.N != 1)
		add("finish", q.Finish, q.Finish != trace.FinishUnknown)
		add("status", q.Status.V, q.Status.OK)
		add("ttft", q.TTFT.V, q.TTFT.OK)
		add("dur", q.Dur.V, q.Dur.OK)
		add("blocks", q.Blocks, len(q.Blocks) > 0)
		fmt.Fprintf(&b, "%d %s\n", q.ID, strings.Join(parts, " "))
	}
	return b.Bytes()
}

// Every known source has a sample log and the trace that it must give.
func TestSampleLogs(t *testing.T) {
	names, err := ingest.SchemaNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			logs, _ := filepath.Glob(logsDir(name, "log.*"))
			if len(logs) == 0 {
				t.Fatalf("no sample log of source %s", name)
			}
			for _, log := range logs {
				tr, _ := apply(t, ingest.Inputs{Paths: []string{log}}, DefaultPolicy())
				encode(t, tr)
				got, golden := describe(tr), logsDir(name, "expect.txt")
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
					t.Errorf("%s gives\n%s\nwant\n%s", log, got, want)
				}
			}
		})
	}
	folders, _ := os.ReadDir(logsDir())
	for _, f := range folders {
		if f.IsDir() && !slices.Contains(names, f.Name()) {
			t.Errorf("testdata/logs/%s is of no known source", f.Name())
		}
	}
}
