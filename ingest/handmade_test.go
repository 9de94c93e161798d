package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/scalar"
)

// TestOtherDates reads the dates of mail, web servers, spreadsheets and portals;
// instants by `date -u -d`.
func TestOtherDates(t *testing.T) {
	for _, c := range []struct {
		in, unit string
		us       int64
		naive    bool
	}{
		{"3/2/2026, 2:05:11.482 PM", "", 1772460311482000, true},
		{"12/31/2026 11:59:59 PM", "", 1798761599000000, true},
		{"3/2/2026 12:05:11 AM", "", 1772409911000000, true},
		{"3/2/2026 14:05", "mdy", 1772460300000000, true},
		{"2/3/2026 14:05", "dmy", 1772460300000000, true},
		{"13/3/2026 14:05", "", 1773410700000000, true},
		{"3/13/2026 14:05", "", 1773410700000000, true},
		{"02.03.2026 14:05:11", "", 1772460311000000, true},
		{"25/Oct/2026:02:10:00 +0000", "", 1792894200000000, false},
		{"Mon, 02 Mar 2026 14:05:11 GMT", "", 1772460311000000, false},
		{"Mon, 2 Mar 2026 15:05:11 +0100", "", 1772460311000000, false},
		{"20260302T140511Z", "", 1772460311000000, false},
		{"20260302T140511.482+01:00", "", 1772456711482000, false},
	} {
		got, ok := scalar.ParseTime(c.in, c.unit)
		if !ok || got.Micros != c.us || got.Naive != c.naive {
			t.Errorf("%q %s: %+v %v, want %d", c.in, c.unit, got, ok, c.us)
		}
	}
	for _, in := range []string{"3/2/2026 14:05", "31/31/2026 14:05", "3/2/26 14:05", "3/2/2026 13:05 PM", "Mon, 02 Mar 2026 14:05:11 CEST", "20261302T140511Z", "02.13.2026 14:05:11", "//", "1/2/2026 :", "25/Okt/2026:02:10:00 +0000"} {
		if got, ok := scalar.ParseTime(in, ""); ok {
			t.Errorf("%q is read as %+v", in, got)
		}
	}
}

// TestGuardedNumbers reads what spreadsheets make of counts.
func TestGuardedNumbers(t *testing.T) {
	for in, want := range map[string]int64{"'3": 3, "1,234": 1234, "12,345,678": 12345678, "7": 7} {
		if got, why := scalar.ParseCount(in, 1<<40); why != "" || got != want {
			t.Errorf("%q: %d %s", in, got, why)
		}
	}
	for _, in := range []string{"1,23", ",123", "1,2345", "1,234.5x", "''3", "'"} {
		if got, why := scalar.ParseCount(in, 1<<40); why == "" {
			t.Errorf("%q is read as %d", in, got)
		}
	}
}

// readHand writes a log, reads it, and gives what Open took it for and its first
// record.
func readHand(t *testing.T, name, text string) (string, Record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := Open(context.Background(), Inputs{Paths: []string{path}})
	if err != nil {
		return err.Error(), Record{}
	}
	for r, err := range log.Records() {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return log.Schema().Name, r
	}
	t.Fatalf("%s has no record", name)
	return "", Record{}
}

// TestHandmade reads the logs that people write themselves: times, clients and
// prompts under the names that they give them.
func TestHandmade(t *testing.T) {
	for _, column := range []string{"ts", "createdAt", "startTime", "request_time", "requested_at", "event_time", "datetime", "date", "logged_at", "Timestamp"} {
		source, r := readHand(t, "a.csv", column+",model,prompt_tokens,completion_tokens,latency_ms,user_id,conversation_id\n2026-03-02T14:05:11.482Z,gpt-4o,100,20,500,u1,c1\n")
		if source != "lengths" || r.Arrival.V != 1772460311482000 || r.Client != "u1" || r.Session != "c1" || r.InputTokens.V != 100 || r.Duration.V != 500_000 {
			t.Errorf("%s: %s %s", column, source, describeRecord(&r))
		}
	}
	source, r := readHand(t, "b.jsonl", `{"ts":"2026-03-02T14:05:11.482Z","model":"m","messages":[{"role":"user","content":"x"}],"prompt_tokens":3,"completion_tokens":4}`+"\n")
	if source != "lengths" || len(r.Messages) != 1 || !r.Arrival.OK {
		t.Errorf("prompts beside counts: %s %s", source, describeRecord(&r))
	}
	source, r = readHand(t, "c.jsonl", `{"timestamp":"2026-03-02T14:05:10.482Z","request":{"model":"claude","system":"be nice","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hi"}]},`+
		`"response":{"id":"msg","type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,"output_tokens":6}}}`+"\n")
	if source != "openai" || r.InputTokens.V != 157 || r.CachedTokens.V != 100 || r.OutputTokens.V != 6 || r.Finish.String() != "stop" || len(r.Messages) != 2 {
		t.Errorf("Anthropic bodies: %s %s", source, describeRecord(&r))
	}
	source, r = readHand(t, "d.csv", `created_at,request,response
2026-03-02 14:05:10.482,"{""model"": ""g"", ""messages"": [{""role"": ""user"", ""content"": ""hi, you""}]}","{""choices"": [{""message"": {""content"": ""a""}}], ""usage"": {""prompt_tokens"": 9, ""completion_tokens"": 6}}"
`)
	if source != "openai" || r.InputTokens.V != 9 || len(r.Messages) != 1 || r.Arrival.V != 1772460310482000 {
		t.Errorf("bodies as text in cells: %s %s", source, describeRecord(&r))
	}
	if source, _ := readHand(t, "e.csv", "start_time,end_time,input_tokens,output_tokens,num_model_requests,model\n1772460000,1772546400,1000,400,12,g\n"); !strings.Contains(source, "no known log source") {
		t.Errorf("buckets of usage are taken for requests: %s", source)
	}
}

// TestSchemaNames holds each source to the name of its file.
func TestSchemaNames(t *testing.T) {
	names, err := SchemaNames()
	if err != nil {
		t.Fatal(err)
	}
	list, err := schemas()
	if err != nil || len(list) != len(names) {
		t.Fatalf("%d sources in %d files: %v", len(list), len(names), err)
	}
	for i, s := range list {
		if s.name != names[i] {
			t.Errorf("%s.yaml is named %s", names[i], s.name)
		}
	}
}
