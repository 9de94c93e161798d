package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest"
)

// The example of a mapping is one: it reads a log of the source that it speaks of.
func TestMappingExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapping.yaml")
	if err := os.WriteFile(path, []byte(mappingExample), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := ingest.ParseMap([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	log, err := ingest.Open(t.Context(), ingest.Inputs{Map: m, Stdin: strings.NewReader(
		`{"started":1772460311482,"latency_ms":521,"id":"a","conversation_id":"c","tenant":"t","mode":"sse","route":"/v1/chat/x","kind":"chat",` +
			`"usage":{"in":12,"out":5,"cache_read":100,"total":117},"http_status":200,"request":{"messages":[{"role":"user","content":"hi"}]},` +
			`"response":{"choices":[{"message":{"content":"yo"},"finish_reason":"stop"}]},"pod":"p1","colour":"red"}` + "\n" +
			`{"started":1772460312482,"kind":"embed","usage":{},"request":{}}` + "\n" +
			`{"started":1772460312482,"kind":"chat","usage":{},"request":{},"cache":"hit"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []ingest.Record
	for r, err := range log.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 3 || got[1].Rule != ingest.NotGeneration || got[2].Rule != ingest.ProxyCacheHit {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if r.Arrival.V != 1772460311_482000 || r.InputTokens.V != 112 || r.CachedTokens.V != 100 || !r.Stream.V || r.Session != "c" ||
		r.Status.V != 200 || r.Output != "yo" || len(r.Messages) != 1 || !r.Tools.OK || r.Tools.V {
		t.Errorf("%+v", r)
	}
	if u := strings.Join(log.Unmapped(), " "); u != "colour" {
		t.Errorf("unmapped: %s", u)
	}
}
