package openai

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reprise/replay"
)

// model is a server whose template adds tokens, and which refuses fields. Three
// tokens of the template stand behind the text, by what it says of tokens.
func model(template int, perWord float64, refuse ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"only"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/tokenize" {
			io.WriteString(w, tokenized(body, template, perWord))
			return
		}
		for _, f := range refuse {
			if strings.Contains(string(body), `"`+f+`"`) {
				status(400, fmt.Sprintf(`{"error":{"message":"unknown field %s"}}`, f))(w, r)
				return
			}
		}
		var q struct {
			Model    string
			Messages []struct{ Content string }
			Max      int `json:"max_tokens"`
			New      int `json:"max_completion_tokens"`
			Tools    []struct {
				Function struct{ Description string }
			}
			Format struct {
				Schema struct{ Schema struct{ Description string } } `json:"json_schema"`
			} `json:"response_format"`
		}
		if json.Unmarshal(body, &q) != nil || q.Model != "only" && q.Model != "m" {
			status(404, `{"error":{"message":"The model does not exist."}}`)(w, r)
			return
		}
		n := template + int(perWord*float64(len(strings.Fields(q.Messages[0].Content))))
		for i, t := range q.Tools { // as a server writes them: 30 once, 17 for each
			n += 17 + len(strings.Fields(t.Function.Description))
			if i == 0 {
				n += 30
			}
		}
		if d := q.Format.Schema.Schema.Description; d != "" {
			n += 21 + len(strings.Fields(d))
		}
		w.Header().Set("Server", "uvicorn")
		events := []string{role}
		for range q.Max + q.New {
			events = append(events, hello)
		}
		flushed(append(events, finish, fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n", n, q.Max+q.New), done)...)(w, r)
	}
}

// tokenized is an answer of /tokenize: ids by words, template tokens below 0.
func tokenized(body []byte, template int, perWord float64) string {
	var q struct{ Messages []struct{ Content string } }
	if json.Unmarshal(body, &q) != nil {
		return "{}"
	}
	var ids []int
	for i := range template - 3 {
		ids = append(ids, -1-i)
	}
	for _, w := range strings.Fields(q.Messages[0].Content) {
		for range int(perWord + 0.5) {
			ids = append(ids, int(crc32.ChecksumIEEE([]byte(w))))
		}
	}
	text, _ := json.Marshal(map[string]any{"tokens": append(ids, -1000, -1001, -1002)})
	return string(text)
}

func TestPreflight(t *testing.T) {
	c := client(t, start(t, model(11, 1)), func(c *Config) { c.Model = "" })
	notes, err := c.Preflight(t.Context())
	if err != nil || len(notes) != 0 {
		t.Fatal(notes, err)
	}
	e := c.Endpoint()
	if e.Model != "only" || e.Template != 11 || !e.IgnoreEOS || !e.Streaming || e.Server != "uvicorn" || strings.Contains(e.URL, "?") {
		t.Fatalf("%+v", e)
	}
	// The template's tokens come off the prompt, so usage meets the plan.
	call, err := c.Prepare(job(40, 4))
	if err != nil {
		t.Fatal(err)
	}
	if r := call.Send(t.Context(), replay.NewFlight(replay.Timer{})); r.InUsage.V != 40 || r.InAsked.V != 40 {
		t.Fatalf("%+v", r)
	}
	if err := c.WarmUp(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
}

// Without usage the template that the user knows is taken out of the first
// block, before and behind the text.
func TestTemplateWithoutUsage(t *testing.T) {
	url := start(t, flushed(role, hello, finish, done))
	for _, c := range []struct {
		api             string
		template        *Template
		note            string
		tokens, content int32
	}{
		{Chat, &Template{8, 3}, "template's 11 tokens, 8 before the text and 3 behind it", 11, 29},
		{Chat, &Template{}, "template's 0 tokens", 0, 40},
		{Chat, nil, "come on top of them (name it with --chat-template", -1, 40},
		{Completions, &Template{8, 3}, "counts prompts as we do is not checked", -1, 40},
	} {
		cl := client(t, url, func(cfg *Config) { cfg.API, cfg.Template, cfg.Tools = c.api, c.template, true })
		notes, err := cl.Preflight(t.Context())
		if err != nil || len(notes) < 2 || !strings.Contains(notes[0], c.note) || !strings.Contains(notes[1], "sent as text") || cl.Endpoint().Template != c.tokens {
			t.Errorf("%+v: %q, %v, %d tokens", c, notes, err, cl.Endpoint().Template)
		}
		k, err := cl.Prepare(job(40, 4))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(k.(*call).data), "w"); n != int(c.content)+strings.Count(`"content"`, "w") || k.(*call).result.InAsked.V != 40 {
			t.Errorf("%+v: %d words, %d tokens asked for", c, n, k.(*call).result.InAsked.V)
		}
	}
}

func TestPreflightNotes(t *testing.T) {
	refuse := func(fields ...string) http.HandlerFunc { return model(3, 1, fields...) }
	for _, c := range []struct {
		name     string
		server   http.HandlerFunc
		note     string
		template int32
	}{
		{"another tokenizer, taken", model(3, 1.5), "its tokenizer is another one", -1},
		{"nearly the same tokenizer", model(5, 258.0/256), "approximate: the server counts 258 tokens for 256 of ours", 5},
		{"no ignore_eos", refuse("ignore_eos"), "refuses ignore_eos", 3},
		{"no usage option", refuse("stream_options"), "refuses stream_options", 3},
		{"new name of max_tokens", refuse("max_tokens"), "", 3},
		{"no usage", flushed(role, hello, finish, done), "reports no usage", -1},
		{"another model's name", flushed(role, `data: {"model":"m-0125","choices":[{"delta":{"content":"x"}}]}`+"\n\n", done), "calls the model that answers m-0125, not m", -1},
		{"no [DONE]", flushed(role, hello, finish), "classed no_done", -1},
		{"not streamed", status(200, `{"choices":[{"message":{"content":"x"}}]}`), "does not stream", -1},
	} {
		h := c.server
		if c.name == "new name of max_tokens" {
			h = func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), `"max_tokens"`) {
					status(400, `{"error":{"message":"use max_completion_tokens"}}`)(w, r)
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				model(3, 1)(w, r)
			}
		}
		cl := client(t, start(t, h), func(cfg *Config) { cfg.Inexact = strings.HasSuffix(c.name, "taken") })
		notes, err := cl.Preflight(t.Context())
		if err != nil || !strings.Contains(strings.Join(notes, "\n"), c.note) || cl.Endpoint().Template != c.template {
			t.Errorf("%s: %v %v %+v", c.name, notes, err, cl.Endpoint())
		}
	}
}

// What is wrong with an endpoint is said in one line, and the key never.
func TestPreflightErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		server http.HandlerFunc
		with   func(*Config)
		want   string
	}{
		{"wrong key", status(401, `{"error":{"message":"Incorrect API key provided: sk-secret."}}`), nil, "HTTP 401: Incorrect API key provided: ***."},
		{"wrong key, no model", status(401, `{"error":{"message":"bad key sk-secret"}}`), func(c *Config) { c.Model = "" }, "HTTP 401: bad key ***"},
		{"no such model", model(3, 1), func(c *Config) { c.Model = "x" }, "The model does not exist."},
		{"HTML", status(200, "<html>"), nil, "answers HTML, not JSON: is the URL right?"},
		{"HTML, no model", status(200, "<html>"), func(c *Config) { c.Model = "" }, "answers HTML, not JSON: is the URL right?"},
		{"several models", status(200, `{"data":[{"id":"b"},{"id":"a"}]}`), func(c *Config) { c.Model = "" }, "name one: a, b"},
		{"no models", status(200, `{"data":[]}`), func(c *Config) { c.Model = "" }, "name the model"},
		{"no list of models", status(404, ``), func(c *Config) { c.Model = "" }, "is the URL right?"},
		{"bad request", status(400, `{"error":{"message":"multi\nline"}}`), nil, "HTTP 400: multi line"},
		{"another tokenizer", model(3, 1.5), nil, "its tokenizer is another one, and prompts come to 1.50 times the planned length; name the server's with --tokenizer"},
		{"a tokenizer 5 % off", model(5, 67.0/64), nil, "its tokenizer is another one"},
		{"asked for and refused", model(3, 1, "ignore_eos", "stream_options"), func(c *Config) { c.IgnoreEOS = On }, "HTTP 400: unknown field"},
	} {
		url := start(t, c.server)
		_, err := client(t, url, func(cfg *Config) {
			cfg.Key = "sk-secret"
			if c.with != nil {
				c.with(cfg)
			}
		}).Preflight(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := client(t, "http://127.0.0.1:1", func(c *Config) { c.Model = "" }).Preflight(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody listens at 127.0.0.1:1") {
		t.Error(err)
	}
}

// Connections opened ahead are as many as asked for, and used.
func TestConnect(t *testing.T) { eachEngine(t, testConnect) }

func testConnect(t *testing.T, engine string) {
	var conns atomic.Int64
	url := start(t, model(0, 1))
	c := client(t, url, by(engine, func(c *Config) { c.Wire.Dial = countDials(&conns) }))
	if n := c.Connect(t.Context(), 50); n != 50 || conns.Load() != 50 {
		t.Fatalf("%d of 50 connections, %d dials", n, conns.Load())
	}
	if r := sendCtx(t.Context(), t, c); r.Class != replay.OK || !r.Reused.V {
		t.Fatalf("%+v", r)
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"ignore-eos is": func(c *Config) { c.IgnoreEOS = "maybe" }, "no source of prompts": func(c *Config) { c.Prompter = nil },
		"line break": func(c *Config) { c.Key = "a\n" }, "no scheme": func(c *Config) { c.URL = "h" }, "the API is": func(c *Config) { c.API = "x" },
	} {
		cfg := Config{URL: "http://h", Prompter: words{}}
		spoil(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A busy endpoint is asked again, a few times: its limit says nothing of the
// requests. One that stays busy is an error that says so.
func TestPreflightWaitsForBusyEndpoints(t *testing.T) {
	var n atomic.Int32
	answer := model(3, 1)
	busy := func(until int32) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && n.Add(1) <= until {
				w.Header().Set("Retry-After", "0")
				status(429, `{"error":{"message":"slow down"}}`)(w, r)
				return
			}
			answer(w, r)
		}
	}
	c := client(t, start(t, busy(probeTries-1)), nil)
	if _, err := c.Preflight(t.Context()); err != nil || c.Endpoint().Template != 3 {
		t.Fatalf("%v, template %d", err, c.Endpoint().Template)
	}
	n.Store(0)
	_, err := client(t, start(t, busy(1000)), nil).Preflight(t.Context())
	if err == nil || !strings.Contains(err.Error(), "429") {
		t.Fatalf("got %v", err)
	}
	if got := n.Load(); got != probeTries {
		t.Fatalf("%d requests sent, want %d", got, probeTries)
	}
}

// A server that closes each connection after a streamed answer, and does not say
// so, is asked again by preflight; it says what planned requests may meet.
func TestPreflightMeetsClosedConnections(t *testing.T) {
	answer := model(3, 1)
	s := httptest.NewUnstartedServer(answer)
	var mu sync.Mutex
	served := map[string]bool{}
	s.Config.ConnState = func(conn net.Conn, st http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		at := conn.RemoteAddr().String()
		// It takes the next request of a connection and closes on it, as a FIN does
		// that is under way when that is sent.
		if st == http.StateActive && served[at] {
			conn.Close()
		}
		served[at] = served[at] || st == http.StateIdle
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, s.URL, nil)
	notes, err := c.Preflight(t.Context())
	if err != nil || !strings.Contains(strings.Join(notes, "\n"), "closes connections that it does not say it will close") || c.Endpoint().Template != 3 {
		t.Fatalf("%q, %v, template %d", notes, err, c.Endpoint().Template)
	}
}
