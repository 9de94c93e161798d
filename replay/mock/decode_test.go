package mock

import (
	"slices"
	"strings"
	"testing"

	"reprise/trace/token"
)

// FuzzDecode: any body gives a call that can be rendered, or a 400.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"m","messages":[{"role":"tool","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":null,"tool_calls":[{}]}],"tools":[{"type":"function"}]}`,
		`{"prompt":"x","max_tokens":5,"min_tokens":2,"ignore_eos":true,"n":1}`, `{"prompt":[1,2]}`, `{"prompt":[[1]]}`, `{"prompt":[[[1]]]}`,
		`{"prompt":["a"]}`, `{"prompt":[null]}`, `{"prompt":{}}`, `{"prompt":[1e3,2.5]}`, `{"n":null,"tools":null}`, `[]`, `null`, ``, "\xff",
	} {
		f.Add(true, []byte(s))
		f.Add(false, []byte(s))
	}
	f.Fuzz(func(t *testing.T, chat bool, data []byte) {
		c, fault := decode(chat, data)
		if fault != nil {
			if fault.Status != 400 || fault.Message == "" {
				t.Errorf("%+v", fault)
			}
			return
		}
		if c.maxTokens < 0 || c.minTokens < 0 || c.maxTokens > 0 && c.minTokens > c.maxTokens {
			t.Errorf("limits %d to %d", c.minTokens, c.maxTokens)
		}
		p := prompter{counter: words{}, template: DefaultTemplate()}
		ids := p.render(c)
		if !slices.Equal(ids, p.render(c)) {
			t.Error("a cached text has other tokens")
		}
		if chat && len(ids) < 7 {
			t.Errorf("%d tokens of a chat prompt", len(ids))
		}
	})
}

func TestTextCacheGenerations(t *testing.T) {
	var c textCache
	big := strings.Repeat("x", textCacheBytes/4)
	for _, s := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		c.put(s+big, []int32{int32(s[0])})
		if ids, ok := c.get("a" + big); !ok || ids[0] != 'a' {
			t.Fatalf("a text in use was forgotten after %s", s)
		}
	}
	if _, ok := c.get("b" + big); ok && len(c.young)+len(c.old) > 10 {
		t.Error("nothing is forgotten")
	}
	if n := len(c.young) + len(c.old); n > 10 {
		t.Errorf("%d texts kept", n)
	}
}

// TestWordsAreTokens: an answer of n tokens has n tokens for a client that
// counts for itself.
func TestWordsAreTokens(t *testing.T) {
	for _, name := range token.Names() {
		counter, err := token.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for n := range int32(500) {
			text = append(text, word(7, n+1)...)
			if got := counter.Count(string(text)); got != int(n)+1 {
				t.Fatalf("%s: %d tokens in an answer of %d", name, got, n+1)
			}
		}
	}
}
