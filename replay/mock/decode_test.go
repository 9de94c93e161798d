package mock

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/replay/mock/engine"
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

// FuzzDecodeLaw: any law that is accepted can run, and comes back from its JSON.
func FuzzDecodeLaw(f *testing.F) {
	for _, l := range engine.Presets() {
		data, err := json.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"base_us":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := engine.DecodeLaw(data)
		if err != nil || l.Blocks > 1<<16 {
			return
		}
		again, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := engine.DecodeLaw(again); err != nil || !reflect.DeepEqual(b, l) {
			t.Errorf("%+v came back as %+v, %v", l, b, err)
		}
		e, err := engine.New(l, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Submit(0, exact(1, 1)); err != nil {
			return // a rate limit under one, say
		}
		var events []engine.Event
		for now, ok := time.Duration(0), true; ok; {
			events, now, ok = e.Step(now, events)
		}
		if len(events) != 1 || events[0].Finish != engine.Length {
			t.Errorf("%+v gave %+v", l, events)
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

func TestHashBlocks(t *testing.T) {
	a, b := make([]int32, 64), make([]int32, 70)
	b[40] = 1
	ha, alla := engine.HashBlocks(nil, a)
	hb, allb := engine.HashBlocks(nil, b)
	if len(ha) != 4 || len(hb) != 4 || ha[0] != hb[0] || ha[1] != hb[1] || ha[2] == hb[2] || ha[3] == hb[3] || alla == allb {
		t.Errorf("%x\n%x", ha, hb)
	}
}
