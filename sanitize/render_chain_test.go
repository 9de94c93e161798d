package sanitize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/ingest"
	"reprise/trace/token"
)

// conversationOf is a conversation with an answer, and now and then a call of a
// tool and its result, at every turn; ends are where its prompts end.
func conversationOf(rng *rand.Rand) (r ingest.Record, ends []int) {
	texts := []string{"", " ", "hello", "ends on a blank ", "\n\n", "de l'été à l'hiver", "日本語のテキスト", "a<|im_end|>b", "assistant", "{\"a\": 1}", "12345", "don't"}
	text := func() string {
		s := ""
		for range 1 + rng.IntN(4) {
			s += texts[rng.IntN(len(texts))]
		}
		return s
	}
	if rng.IntN(2) == 0 {
		r.ToolText = `[{"type":"function","function":{"name":"f"}}]`
	}
	if rng.IntN(2) == 0 {
		r.Messages = append(r.Messages, ingest.Message{Role: "system", Text: text()})
	}
	for range 2 + rng.IntN(5) {
		r.Messages = append(r.Messages, ingest.Message{Role: "user", Text: text()})
		ends = append(ends, len(r.Messages))
		answer := ingest.Message{Role: "assistant", Text: text()}
		if rng.IntN(4) == 0 {
			answer.Name = "someone"
		}
		r.Messages = append(r.Messages, answer)
		if rng.IntN(3) == 0 {
			r.Messages = append(r.Messages, ingest.Message{Role: "tool", Text: text()})
			ends = append(ends, len(r.Messages))
			r.Messages = append(r.Messages, ingest.Message{Role: "assistant", Text: text()})
		}
	}
	return r, ends
}

// TestPromptsBeginTheNext: without a template, the prompt of a turn, with the
// answer's start, begins the prompt of the next turn to the token, whatever is
// said and whatever the vocabulary.
func TestPromptsBeginTheNext(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		tok := open(t, name)
		for range 200 {
			checkChain(t, tok, name, rng)
		}
	}
}

func checkChain(t *testing.T, tok *token.Tokenizer, name string, rng *rand.Rand) {
	t.Helper()
	r, ends := conversationOf(rng)
	var last []int32
	for turn, end := range ends {
		part := r
		part.Messages = r.Messages[:end]
		now := render(tok, &part, nil).tokens
		if len(now) < len(last) || !slices.Equal(now[:len(last)], last) {
			t.Fatalf("%s: the prompt of turn %d does not begin with that of the turn before:\n%v\n%v", name, turn, now, last)
		}
		last = now
	}
}
