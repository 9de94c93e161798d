package sanitize

import (
	"slices"
	"testing"

	"reprise/ingest"
	"reprise/trace/token"
)

func open(t testing.TB, name string) *token.Tokenizer {
	t.Helper()
	tok, err := token.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// The example of the OpenAI cookbook, "How to count tokens with tiktoken", with
// the counts that the API gave: 129 for gpt-4 and 124 for gpt-4o.
func TestCookbookCount(t *testing.T) {
	r := ingest.Record{HasPrompt: true, Messages: []ingest.Message{
		{Role: "system", Text: "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
		{Role: "system", Name: "example_user", Text: "New synergies will help drive top-line growth."},
		{Role: "system", Name: "example_assistant", Text: "Things working well together will increase revenue."},
		{Role: "system", Name: "example_user", Text: "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
		{Role: "system", Name: "example_assistant", Text: "Let's talk later when we're less busy about how to do better."},
		{Role: "user", Text: "This late pivot means we don't have time to boil the ocean for the client deliverable."},
	}}
	for name, want := range map[string]int{"cl100k_base": 129, "o200k_base": 124} {
		if got := len(render(open(t, name), &r, nil).tokens); got != want {
			t.Errorf("%s: %d tokens, the API counted %d", name, got, want)
		}
	}
}

// Equal leading messages are equal leading tokens, whatever follows.
func TestLeadingMessages(t *testing.T) {
	tok := open(t, "o200k_base")
	first := ingest.Message{Role: "system", Text: "be brief and end on a space "}
	short := render(tok, &ingest.Record{Messages: []ingest.Message{first}}, nil).tokens
	long := render(tok, &ingest.Record{Messages: []ingest.Message{first, {Role: "user", Text: " hello"}}}, nil).tokens
	own := len(short) - 3
	if !slices.Equal(short[:own], long[:own]) {
		t.Fatalf("%v does not begin %v", short[:own], long)
	}
}
