package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/replay/scrape"
	"reprise/trace/token"
)

// Against a server without usage, prompts come to the recorded length by the
// server's own metrics where the chat template is known, and by the template's
// tokens above it where not.
func TestTemplateByServersMetrics(t *testing.T) {
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	law, err := engine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	cfg := mock.DefaultConfig(law, tok)
	cfg.Template = mock.Template{Prefix: 5, PerMessage: 4}
	cfg.Faults = []mock.Fault{{Kind: "no_usage", P: 1}}
	server, err := mock.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// As many tokens as the mock's, all before the text.
	path := filepath.Join(t.TempDir(), "template.jinja")
	if err := os.WriteFile(path, []byte(`{% for m in messages %}a b c d e f g h i {{ m['content'] }}{% endfor %}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := conformance(40, "o200k_base", 32, 64, 6, 200)
	for _, c := range []struct {
		args  []string
		over  float64 // tokens of each prompt above the trace's
		known int32
		say   string
	}{
		{[]string{"--chat-template", path}, 0, 9, "its template's 9 tokens, 9 before the text and 0 behind it"},
		{nil, 9, -1, "come on top of them (name it with --chat-template"},
	} {
		x := replayAt(t, tr, append(c.args, "--url", server.URL())...)
		x.accounted(t)
		s, m := x.sums(), scrape.Summarize(x.server)
		if want := float64(s.inAsked) + c.over*float64(len(x.rows)); m == nil || m.Prompt == nil || *m.Prompt != want || s.inUsage != 0 {
			t.Errorf("%q: %d tokens asked for, the server counted %v, want %g (%d by usage)", c.args, s.inAsked, m, want, s.inUsage)
		}
		if x.run.Endpoint.Template != c.known || !strings.Contains(strings.Join(x.run.Notes, "\n"), c.say) {
			t.Errorf("%q: template %d, notes %q", c.args, x.run.Endpoint.Template, x.run.Notes)
		}
		if s.outLocal == 0 {
			t.Error("output tokens were not counted locally")
		}
	}
}
