package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/replay"
)

// layout is where the tokens stand that the server's template adds to a text.
// Blocks of the prefix cache count from the first token, the template's: a text
// that begins front tokens into the prompt has its blocks where the server has
// its own.
type layout struct{ front, back int32 }

// cacheBlock is the smallest block of a prefix cache that is common (vLLM's).
const cacheBlock = 16

// assume splits a template of n tokens whose halves are not known. Blocks stay
// those of the server wherever the text begins at most a block early, so all of
// a short template may count as behind the text; of a longer one, what cannot
// stand behind: no template known ends in a block's length.
func assume(n int32) layout {
	back := min(n, cacheBlock-1)
	return layout{n - back, back}
}

// locate finds the layout of a template of n tokens: all before the text where
// there is no chat, else by the server's own tokens (POST /tokenize, as vLLM
// has it), else as Config.Template knows it, else assumed.
func (c *Client) locate(ctx context.Context, n int32) (l layout, note string) {
	if n <= 0 || c.target.api == Completions {
		return layout{front: max(n, 0)}, ""
	}
	if l, ok := c.tokenized(ctx, n); ok {
		return l, ""
	}
	if t := c.cfg.Template; t != nil {
		if t.Front+t.Back == n {
			return layout{t.Front, t.Back}, ""
		}
		note = fmt.Sprintf("the chat template given adds %d tokens, the server's %d: it is another one; ", t.Front+t.Back, n)
	}
	l = assume(n)
	return l, note + fmt.Sprintf("where the template's %d tokens stand is not known: %d are taken to be before the text, so that shared blocks of %d tokens stay as many; a cache that goes by single tokens may find up to %d more in a prompt", n, l.front, cacheBlock, cacheBlock-1)
}

// uncounted calibrates where the server reports no usage: by the template that is
// given, as counted here. It returns what is known then, and what is not.
func (c *Client) uncounted() (notes []string) {
	say := "the server reports no usage: output tokens are known by local count alone, and "
	switch t := c.cfg.Template; {
	case c.target.api == Completions:
		say += "that it counts prompts as we do is not checked"
	case t == nil:
		say += "prompts are not calibrated to its template, whose tokens come on top of them (name it with --chat-template, beside its --tokenizer)"
	default:
		c.template, c.layout = t.Front+t.Back, layout{t.Front, t.Back}
		say += fmt.Sprintf("its template's %d tokens, %d before the text and %d behind it, are those of the chat template given, which is not checked", c.template, t.Front, t.Back)
	}
	notes = append(notes, say)
	if c.cfg.Tools || c.cfg.Schema {
		notes = append(notes, "tools and JSON schemas are not replayed, their tokens are sent as text: what they take at a server without usage is not known")
	}
	return notes
}

// tokenized asks the server for the tokens of two conversations: what they have
// in common at either end is the template.
func (c *Client) tokenized(ctx context.Context, n int32) (layout, bool) {
	const words = 8
	for key := range int64(3) { // two texts may begin alike, by chance
		a, ok1 := c.tokenize(ctx, -2-2*key, words)
		b, ok2 := c.tokenize(ctx, -3-2*key, words)
		if !ok1 || !ok2 || len(a) != len(b) || len(a) != int(n)+words {
			return layout{}, false
		}
		var l layout
		for int(l.front) < len(a) && a[l.front] == b[l.front] {
			l.front++
		}
		for int(l.back) < len(a) && a[len(a)-1-int(l.back)] == b[len(b)-1-int(l.back)] {
			l.back++
		}
		if l.front+l.back == n {
			return l, true
		}
	}
	return layout{}, false
}

// tokenize returns the ids of a conversation of one fresh text.
func (c *Client) tokenize(ctx context.Context, key int64, words int) ([]int64, bool) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Connect)
	defer cancel()
	body := append([]byte(`{"model":`), quoted(c.model)...)
	body = appendText(append(body, `,"messages":[{"role":"user","content":`...), func(dst []byte) []byte { return c.cfg.Prompter.AppendFresh(dst, key, words) })
	body = append(body, `}],"add_generation_prompt":true}`...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Beside("/tokenize"), bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	client, header := c.Side()
	req.Header = header
	resp, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK || !gjson.ValidBytes(data) {
		return nil, false
	}
	var ids []int64
	if json.Unmarshal([]byte(gjson.GetBytes(data, "tokens").Raw), &ids) != nil {
		return nil, false
	}
	return ids, true
}

// Beside is the URL of a path that the server has beside its API, such as
// /metrics.
func (c *Client) Beside(path string) string {
	u := *c.target.models
	base := strings.TrimSuffix(u.Path, "/models")
	if i := strings.LastIndexByte(base, '/'); i >= 0 && versioned(base) {
		base = base[:i]
	}
	u.Path, u.RawPath, u.RawQuery = base+path, "", ""
	return u.String()
}

// Side returns what requests beside the run go by, such as those for metrics:
// a client of one connection with the run's TLS and proxy, and its headers.
func (c *Client) Side() (*http.Client, http.Header) {
	header := c.header.Clone()
	header.Set("Accept", "*/*")
	c.sideOnce.Do(func() {
		// To follow a redirect would send the headers, secrets too, to another place.
		stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		c.side = &http.Client{CheckRedirect: stay, Transport: &http.Transport{TLSClientConfig: c.cfg.TLS, Proxy: c.cfg.Wire.Proxy, MaxConnsPerHost: 1}}
	})
	return c.side, header
}

// Closing is a fixed sentence behind prompts to servers that cannot be told to
// ignore the end of an answer: it asks them to write on. Its tokens are part of
// the prompt's length.
type Closing struct {
	Text   string
	Tokens int32
}

// span appends the part of a prompt between two of its tokens.
func (c *Client) span(dst []byte, job *replay.Job, from, to int32) ([]byte, int32) {
	if p, ok := c.cfg.Prompter.(replay.Spanner); ok {
		return p.AppendSpan(dst, job, from, to)
	}
	return c.cfg.Prompter.AppendPrompt(dst, job, from+job.Request.Input.Or(to)-to)
}

// length is the length of a job's prompt, the template's tokens included.
func (c *Client) length(job *replay.Job) int32 {
	if p, ok := c.cfg.Prompter.(replay.Spanner); ok {
		return p.Tokens(&job.Request)
	}
	return job.Request.Input.Or(1)
}
