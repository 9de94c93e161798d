package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestParseExtra(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string // the object, or what the error says
		bad   bool
	}{
		{nil, "", false},
		{[]string{`top_p=0.9`, `seed=7`}, `{"seed":7,"top_p":0.9}`, false},
		{[]string{`user=team a`, `stop=["a", "b"]`, `logit_bias={"5": -1}`}, `{"logit_bias":{"5":-1},"stop":["a","b"],"user":"team a"}`, false},
		{[]string{`stop==`, `user="1"`}, `{"stop":"=","user":"1"}`, false},
		{[]string{` { "chat_template_kwargs" : { "enable_thinking" : false } } `, `x=null`}, `{"chat_template_kwargs":{"enable_thinking":false},"x":null}`, false},
		{[]string{`{}`}, "", false},
		{[]string{`a`}, "NAME=VALUE", true},
		{[]string{`=1`}, "NAME=VALUE", true},
		{[]string{`{"a":1`}, "no JSON object", true},
		{[]string{`{"a":1,"a":2}`}, `"a" is given twice`, true},
		{[]string{`a=1`, `{"a":2}`}, `"a" is given twice`, true},
		{[]string{`stream=false`}, "stream is not extra", true},
		{[]string{`{"messages":[]}`}, "messages is not extra", true},
		{[]string{`ignore_eos=false`}, "set by --ignore-eos", true},
	} {
		e, err := ParseExtra(c.given)
		switch {
		case c.bad && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.given, err, c.want)
		case !c.bad && (err != nil || e.String() != c.want || c.want != "" && !json.Valid([]byte(e.String()))):
			t.Errorf("%q: %v %s, want %s", c.given, err, e, c.want)
		}
	}
}

// The user's fields are in every body, and stand in for ours of the same name.
func TestExtraIsSent(t *testing.T) {
	extra, err := ParseExtra([]string{`temperature=0.7`, `chat_template_kwargs={"enable_thinking":false}`})
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan map[string]any, 1)
	url := start(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var body map[string]any
		if json.Unmarshal(b, &body) != nil || strings.Count(string(b), `"temperature"`) != 1 {
			t.Errorf("sent %s", b)
		}
		sent <- body
		flushed(hello+world, finish, used, done)(w, r)
	})
	for _, engine := range []string{EngineRaw, EngineNet} {
		c := client(t, url, by(engine, func(c *Config) { c.Extra = extra }))
		sendCtx(t.Context(), t, c)
		body := <-sent
		kw, _ := body["chat_template_kwargs"].(map[string]any)
		if body["temperature"] != 0.7 || kw["enable_thinking"] != false || body["stream"] != true {
			t.Errorf("%s: sent %v", engine, body)
		}
		if said := c.Endpoint().Extra; said != extra.String() {
			t.Errorf("%s: run.json would say %q", engine, said)
		}
	}
}

func FuzzParseExtra(f *testing.F) {
	f.Add(`{"a":1}`)
	f.Add(`a={"b":[1, "x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExtra([]string{text})
		if err != nil || len(e) == 0 {
			return
		}
		again, err := ParseExtra([]string{e.String()})
		if err != nil || again.String() != e.String() {
			t.Errorf("%q is read as %s, and that as %s (%v)", text, e, again, err)
		}
	})
}
