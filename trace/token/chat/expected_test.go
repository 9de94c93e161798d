package chat

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reprise/trace/token/chat/jinja"
)

// TestExpected compares with what transformers rendered (testdata/oracle.py says
// how): templates of our own that use each feature, every conversation, with and
// without generation prompt.
func TestExpected(t *testing.T) { compare(t, "testdata/templates", "testdata/expected.jsonl", 150) }

// TestExpectedReal does the same for templates of real models, which are not
// ours to keep: REPRISE_TEMPLATES names a folder of them, with expected.jsonl in
// it that oracle.py made.
func TestExpectedReal(t *testing.T) {
	dir := os.Getenv("REPRISE_TEMPLATES")
	if dir == "" {
		t.Skip("REPRISE_TEMPLATES is not set: no templates of real models")
	}
	compare(t, dir, filepath.Join(dir, "expected.jsonl"), 500)
}

// asked is a line of conversations.json.
type asked struct {
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Continue bool              `json:"continue_final_message"`
	Options  json.RawMessage   `json:"kwargs"`
}

func (a asked) conversation(t *testing.T) Conversation {
	c := Conversation{Continue: a.Continue, Now: time.Date(2026, 1, 15, 12, 34, 56, 0, time.UTC)}
	for _, m := range a.Messages {
		c.Messages = append(c.Messages, decode(t, m).(*jinja.Dict))
	}
	if a.Tools != nil {
		c.Tools = decode(t, a.Tools).(*jinja.List)
	}
	if a.Options != nil {
		c.Options = map[string]any{}
		decode(t, a.Options).(*jinja.Dict).Each(func(k, v any) { c.Options[k.(string)] = v })
	}
	return c
}

func decode(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	v, err := Decode(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func conversations(t *testing.T) map[string]Conversation {
	t.Helper()
	data, err := os.ReadFile("testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]asked
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]Conversation{}
	for name, a := range all {
		out[name] = a.conversation(t)
	}
	return out
}

func compare(t *testing.T, dir, expected string, atLeast int) {
	f, err := os.Open(expected)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := conversations(t)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	n, refused, templates := 0, 0, map[string]*Template{}
	for lines.Scan() {
		var row struct {
			Template, Conversation string
			Prompt                 bool
			Text                   *string
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		tpl, ok := templates[row.Template]
		if !ok {
			tpl = forOracle(t, filepath.Join(dir, row.Template))
			templates[row.Template] = tpl
		}
		if tpl == nil {
			if row.Text != nil {
				t.Errorf("%s is rendered by transformers", row.Template)
			}
			continue
		}
		n++
		got, err := tpl.Render(context.Background(), all[row.Conversation], row.Prompt)
		var own *jinja.Error
		switch {
		case err != nil && row.Text != nil:
			t.Errorf("%s, %s: %v", row.Template, row.Conversation, err)
		case err != nil && !errors.As(err, &own) && !errors.Is(err, ErrContinue):
			t.Errorf("%s, %s: %v", row.Template, row.Conversation, err)
		case err != nil:
			refused++
		case row.Text == nil:
			t.Errorf("%s, %s: rendered, transformers refuses: %q", row.Template, row.Conversation, got)
		case got != *row.Text:
			t.Errorf("%s, %s, prompt %v:\n got %q\nwant %q", row.Template, row.Conversation, row.Prompt, got, *row.Text)
		}
	}
	if err := lines.Err(); err != nil || n < atLeast {
		t.Fatal(n, err)
	}
	t.Logf("%d templates, %d renderings alike, %d of them refused by both", len(templates), n, refused)
}

// forOracle opens a template with the special tokens and the view of parts that
// the oracle has.
func forOracle(t *testing.T, path string) *Template {
	tpl, err := Open(path)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	tpl.vars = map[string]string{"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
	tpl.parts = true // transformers leaves parts as they are
	return tpl
}
