package openai

import (
	"os"
	"strings"
	"testing"
	"time"

	"reprise/replay"
)

// What real engines refuse is refused in one class, with a short reason, and no
// such request counts as a success. make conformance runs this; the environment
// names the engines (see cmd/reprise).
func TestConformanceRefusals(t *testing.T) {
	names := map[string]string{"vLLM": "VLLM_URL", "llama.cpp": "LLAMA_URL"}
	met := 0
	for engine, variable := range names {
		url := os.Getenv(variable)
		if url == "" {
			continue
		}
		met++
		t.Run(engine, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, by string) { refusals(t, engine, url, by) })
		})
	}
	if met == 0 {
		t.Skip("VLLM_URL and LLAMA_URL name no engine: nothing was refused by a real one")
	}
}

// refusals sends what a server must refuse.
func refusals(t *testing.T, engine, url, wire string) {
	c := client(t, url, by(wire, func(c *Config) { c.Model = "" }))
	model, err := c.onlyModel(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		name  string
		words int
		url   string
		with  func(*ask)
		http  int16
		hope  bool // another request might do better
		say   string
	}{
		{"no such model", 8, "", func(a *ask) { a.model = "no-such-model" }, 404, false, "no-such-model"},
		{"no such path", 8, "/v7/chat/completions", func(*ask) {}, 404, false, ""},
		{"a parameter that is none", 8, "", func(a *ask) { a.schema = []byte(`{"type":"nonsense"}`) }, 400, true, ""},
		{"a prompt beyond the context", 20_000, "", func(*ask) {}, 400, true, "context"},
	} {
		if engine == "llama.cpp" && q.name == "no such model" {
			continue // it serves the one that it has under any name
		}
		k := client(t, url+q.url, by(wire, func(c *Config) { c.Model = model }))
		a := k.plainAsk()
		a.out = 1
		q.with(&a)
		x := &call{client: k}
		x.data = appendBody(make([]byte, k.room), k.target.api, a, func(dst []byte) []byte { return k.cfg.Prompter.AppendFresh(dst, 1, q.words) })
		r := x.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
		t.Logf("%s: %v, %s", q.name, r.Class, r.Reason)
		if r.Class != replay.HTTP4xx || r.HTTP.V != q.http || r.Hopeless == q.hope {
			t.Errorf("%s: %v, HTTP %d, hopeless %v (%s)", q.name, r.Class, r.HTTP.V, r.Hopeless, r.Reason)
		}
		if r.FirstContent.OK || r.OutUsage.OK || r.NEvents > 0 {
			t.Errorf("%s: has an answer: %+v", q.name, r)
		}
		if len(r.Reason) > 240 || strings.Contains(r.Reason, "\n") || strings.Contains(r.Reason, "k1 k1") || !strings.Contains(r.Reason, q.say) {
			t.Errorf("%s: the reason is %q", q.name, r.Reason)
		}
	}
}
