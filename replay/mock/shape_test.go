package mock

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http/httputil"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reprise/replay/mock/engine"
)

func withShape(t *testing.T, text string) func(*Config) {
	t.Helper()
	s, err := ParseShape(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Shape = s }
}

// shaped is the content of a stream of a shape, whole.
func shaped(t *testing.T, netHTTP bool, shape, path, body string) string {
	t.Helper()
	r := rawPost(t, begin(t, netHTTP, withShape(t, shape)), path, body)
	text, whole := r.content()
	if !whole || r.reset {
		t.Fatalf("%s: %q", shape, r.all)
	}
	return text
}

// payloads reads a stream by the letter of the standard: any line end, comments
// passed over, data lines joined, one space taken off.
func payloads(t *testing.T, text string) []string {
	t.Helper()
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var out []string
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		var data []string
		for line := range strings.SplitSeq(block, "\n") {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(v, " "))
			} else if !strings.HasPrefix(line, ":") {
				t.Fatalf("neither data nor comment: %q", line)
			}
		}
		if data != nil {
			out = append(out, strings.Join(data, "\n"))
		}
	}
	return out
}

// delta is what a client reads of an event of any shape.
type delta struct {
	Choices []struct {
		Text  *string
		Delta struct {
			Role, Content    *string
			ReasoningContent *string `json:"reasoning_content"`
			Reasoning        *string
			ToolCalls        []struct {
				ID, Type string
				Index    *int
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Completion int `json:"completion_tokens"`
	}
}

// deltas parses the events but [DONE], which must be the last where there is one.
func deltas(t *testing.T, text string) (out []delta, done bool) {
	t.Helper()
	for _, p := range payloads(t, text) {
		if done {
			t.Fatalf("%q behind [DONE]", p)
		}
		if p == "[DONE]" {
			done = true
			continue
		}
		var d delta
		if err := json.Unmarshal([]byte(p), &d); err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		out = append(out, d)
	}
	return out, done
}

// gist sums a stream up.
type gist struct {
	roles, contents, reasonings, tools, usages, finishes int
	content, reasoning, args, finish                     string
	usage                                                []int
	done                                                 bool
}

func summary(t *testing.T, text string) (r gist) {
	t.Helper()
	list, done := deltas(t, text)
	r.done = done
	for _, d := range list {
		if d.Usage != nil {
			r.usages++
			r.usage = append(r.usage, d.Usage.Completion)
		}
		for _, c := range d.Choices {
			if c.Delta.Role != nil {
				r.roles++
			}
			if c.Delta.Content != nil && *c.Delta.Content != "" {
				r.contents++
				r.content += *c.Delta.Content
			}
			if p := c.Delta.ReasoningContent; p != nil {
				r.reasonings++
				r.reasoning += *p
			}
			for _, call := range c.Delta.ToolCalls {
				r.tools++
				r.args += call.Function.Arguments
				if first := r.tools == 1; first != (call.ID != "") || first != (call.Function.Name != "") {
					t.Errorf("call %d: %+v", r.tools, call)
				}
			}
			if c.FinishReason != nil {
				r.finishes++
				r.finish = *c.FinishReason
			}
		}
	}
	return r
}

func TestShapes(t *testing.T) {
	usual := shaped(t, false, "usage=last", chatPath, chatBody)
	plain, events := summary(t, usual), strings.Count(usual, "data: ")
	if plain.roles != 1 || plain.contents != 6 || plain.usages != 1 || plain.usage[0] != 6 || plain.finish != "length" || !plain.done || len(strings.Fields(plain.content)) != 6 {
		t.Fatalf("%+v", plain)
	}
	for _, c := range []struct {
		shape string
		check func(text string, r gist) bool
	}{
		{"no_role", func(_ string, r gist) bool { return r.roles == 0 && r.content == plain.content }},
		{"usage=never", func(_ string, r gist) bool { return r.usages == 0 }},
		{"usage=every", func(_ string, r gist) bool {
			return everyUsage(r.usage)
		}},
		{"no_done", func(text string, r gist) bool { return !r.done && r.contents == 6 && r.usages == 1 }},
		{"interval=4", func(_ string, r gist) bool { return r.contents == 3 && r.content == plain.content }}, // 1, 4 and 1 tokens
		{"interval=100", func(_ string, r gist) bool { return r.contents == 2 && r.content == plain.content }},
		{"own_finish", func(_ string, r gist) bool { return r.finishes == 1 && r.contents == 6 && r.finish == "length" }},
		{"reasoning=0.5", func(_ string, r gist) bool {
			return r.reasonings == 3 && r.contents == 3 && r.reasoning+" "+r.content == plain.content
		}},
		{"reasoning=0.5,interval=4", func(_ string, r gist) bool {
			return r.reasonings == 2 && r.contents == 1 && r.reasoning+" "+r.content == plain.content
		}},
		{"reasoning=1", func(_ string, r gist) bool { return r.reasonings == 5 && r.contents == 1 }},
		{"reasoning=0.5,reasoning_field=reasoning", func(text string, r gist) bool {
			return r.reasonings == 0 && strings.Count(text, `"delta":{"reasoning":"`) == 3
		}},
		{"tools", func(_ string, r gist) bool {
			var args struct{ Text string }
			return r.contents == 0 && r.tools == 6 && json.Unmarshal([]byte(r.args), &args) == nil && args.Text == plain.content
		}},
		{"tools,reasoning=0.4", func(_ string, r gist) bool {
			return r.reasonings == 2 && r.tools == 4 && json.Valid([]byte(r.args))
		}},
		{"unicode", func(_ string, r gist) bool {
			return r.contents == 6 && utf8.ValidString(r.content) && len(r.content) > utf8.RuneCountInString(r.content)
		}},
		{"crlf", func(text string, r gist) bool {
			return strings.Count(text, "\r\n") == strings.Count(text, "\n") && strings.Count(text, "\r\n\r\n") == events && r.content == plain.content
		}},
		{"cr", func(text string, r gist) bool {
			return !strings.Contains(text, "\n") && strings.Count(text, "\r\r") == events && r.content == plain.content
		}},
		{"no_space", func(text string, r gist) bool {
			return strings.Count(text, "data:") == events && !strings.Contains(text, "data: ") && r.content == plain.content
		}},
		{"multiline", func(text string, r gist) bool {
			return strings.Count(text, "data: ") == 2*events-1 && strings.Contains(text, ",\ndata: ") && r.content == plain.content
		}},
		{"split=6", func(text string, r gist) bool { return r.content == plain.content && r.done }},
	} {
		fronts(t, func(t *testing.T, netHTTP bool) {
			text := shaped(t, netHTTP, c.shape, chatPath, chatBody)
			if r := summary(t, text); !c.check(text, r) {
				t.Errorf("%s: %+v\n%s", c.shape, r, text)
			}
		})
	}
}

// TestSplitWrites: the cuts between writes fall where the shape says, inside
// characters too. Each write is a chunk, so that they can be seen.
func TestSplitWrites(t *testing.T) {
	fronts(t, func(t *testing.T, netHTTP bool) {
		r := rawPost(t, begin(t, netHTTP, withShape(t, "split=6,unicode")), chatPath, chatBody)
		chunks := chunksOf(t, r.body)
		inside := 0
		for i, c := range chunks {
			if len(c) > 6 {
				t.Fatalf("write %d has %d bytes: %q", i, len(c), c)
			}
			if !utf8.ValidString(c) {
				inside++
			}
		}
		if chunks[0] != "data: " || inside < 2 {
			t.Errorf("first write %q, %d cuts inside a character", chunks[0], inside)
		}
		if s := summary(t, strings.Join(chunks, "")); s.contents != 6 || !s.done {
			t.Errorf("%+v", s)
		}
	})
}

// chunksOf cuts a chunked body into its chunks, the last, empty one left out.
func chunksOf(t *testing.T, body string) (out []string) {
	t.Helper()
	for {
		line, rest, ok := strings.Cut(body, "\r\n")
		n, err := strconv.ParseInt(line, 16, 64)
		if !ok || err != nil || len(rest) < int(n)+2 {
			t.Fatalf("not a chunk: %q", body)
		}
		if n == 0 {
			return out
		}
		out, body = append(out, rest[:n]), rest[n+2:]
	}
}

// TestPings: comments come on their clock, tokens or not.
func TestPings(t *testing.T) {
	fronts(t, func(t *testing.T, netHTTP bool) {
		s := begin(t, netHTTP, func(c *Config) {
			withShape(t, "ping=5ms")(c)
			c.Law.Plain = &engine.Plain{TTFT: 60000, ITL: 1000}
		})
		r := rawPost(t, s, chatPath, chatBody)
		text, _ := r.content()
		before, _, _ := strings.Cut(text, "data: ")
		if n := strings.Count(before, ": ping\n\n"); n < 5 || n*len(": ping\n\n") != len(before) {
			t.Errorf("%d pings before the first token: %q", n, before)
		}
		if d := summary(t, text); d.contents != 6 || !d.done {
			t.Errorf("%+v", d)
		}
	})
}

func TestShapesOfCompletions(t *testing.T) {
	const body = `{"model":"mock","stream":true,"max_tokens":5,"ignore_eos":true,"prompt":"one two"}`
	text := shaped(t, false, "interval=3,usage=every,reasoning=0.5,tools", completionsPath, body)
	list, done := deltas(t, text)
	var words, finish string
	for _, d := range list[:3] {
		words += *d.Choices[0].Text
		if f := d.Choices[0].FinishReason; f != nil {
			finish = *f
		}
	}
	if len(list) != 4 || len(strings.Fields(words)) != 5 || finish != "length" || list[1].Usage.Completion != 4 || list[3].Usage.Completion != 5 || !done {
		t.Errorf("%d events, %q, %s", len(list), words, text)
	}
}

// TestContinuousUsage: a request can ask for usage in each event, as of vLLM.
func TestContinuousUsage(t *testing.T) {
	body := strings.Replace(chatBody, `"include_usage":true`, `"include_usage":true,"continuous_usage_stats":true`, 1)
	r := summary(t, shaped(t, false, "interval=1", chatPath, body))
	if !everyUsage(r.usage) {
		t.Errorf("%+v", r)
	}
}

// everyUsage tells the usages of an event for the role, of 6 tokens, and of
// what ends the answer.
func everyUsage(got []int) bool {
	return len(got) >= 8 && reflect.DeepEqual(got[:7], []int{0, 1, 2, 3, 4, 5, 6}) && !slices.ContainsFunc(got[7:], func(n int) bool { return n != 6 })
}

// TestShapesOfWholeAnswers: an answer that does not stream has the same parts.
func TestShapesOfWholeAnswers(t *testing.T) {
	body := strings.Replace(strings.Replace(chatBody, `"stream":true,`, "", 1), `"stream_options":{"include_usage":true},`, `"tools":[{"type":"function","function":{"name":"look_up"}}],`, 1)
	body = strings.Replace(body, `"ignore_eos":true`, `"min_tokens":5`, 1)
	var got struct {
		Choices []struct {
			Message struct {
				Content          *string
				ReasoningContent string `json:"reasoning_content"`
				ToolCalls        []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
	}
	text := shaped(t, false, "reasoning=0.4,tools", chatPath, body)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	m := got.Choices[0]
	if m.Message.Content != nil || len(strings.Fields(m.Message.ReasoningContent)) != 2 || m.FinishReason != "tool_calls" ||
		m.Message.ToolCalls[0].Function.Name != "look_up" || !json.Valid([]byte(m.Message.ToolCalls[0].Function.Arguments)) {
		t.Errorf("%s", text)
	}
}

// TestBuffers: what a proxy holds back comes in few chunks, and none is lost.
func TestBuffers(t *testing.T) {
	want := shaped(t, false, "usage=last", chatPath, chatBody)
	for _, c := range []struct {
		buffer string
		chunks func(n int, first string) bool
	}{
		{"whole", func(n int, _ string) bool { return n == 1 }},
		{"bytes=1000", func(n int, first string) bool { return n == 2 && len(first) >= 1000 }},
		{"hold=10s", func(n int, _ string) bool { return n == 1 }},
		{"hold=10s,bytes=1000", func(n int, _ string) bool { return n == 2 }},
	} {
		fronts(t, func(t *testing.T, netHTTP bool) {
			b, err := ParseBuffer(c.buffer)
			if err != nil {
				t.Fatal(err)
			}
			r := rawPost(t, begin(t, netHTTP, func(cfg *Config) { cfg.Buffer = b }), chatPath, chatBody)
			chunks := chunksOf(t, r.body)
			if text := strings.Join(chunks, ""); len(text) != len(want) || !c.chunks(len(chunks), chunks[0]) {
				t.Errorf("%s: %d chunks, %d bytes of %d", c.buffer, len(chunks), len(text), len(want))
			}
		})
	}
}

// TestBufferHolds: bytes leave when the first of them has waited long enough,
// and not before.
func TestBufferHolds(t *testing.T) {
	b := Buffer{Hold: Span(20 * time.Millisecond)}
	s := begin(t, false, func(c *Config) {
		c.Buffer = b
		c.Law.Plain = &engine.Plain{TTFT: 1000, ITL: 15000}
	})
	r := rawPost(t, s, chatPath, chatBody)
	if n := len(chunksOf(t, r.body)); n < 2 || n > 4 { // of 6 tokens, 15 ms apart
		t.Errorf("%d chunks", n)
	}
}

// TestBufferGzip: the proxy compresses for a client that accepts it, and what
// has come can be read before the end.
func TestBufferGzip(t *testing.T) {
	fronts(t, func(t *testing.T, netHTTP bool) {
		s := begin(t, netHTTP, func(c *Config) { c.Buffer = Buffer{Gzip: true} })
		if r := rawPost(t, s, chatPath, chatBody); strings.Contains(r.head, "gzip") {
			t.Errorf("not asked for: %s", r.head)
		}
		r := rawPost(t, s, chatPath, chatBody, "Accept-Encoding: gzip, deflate")
		if !strings.Contains(r.head, "Content-Encoding: gzip") {
			t.Fatalf("%s", r.head)
		}
		body, err := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(strings.NewReader(r.body))))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || summary(t, string(text)).contents != 6 {
			t.Errorf("%v: %q", err, text)
		}
		first, err := gzip.NewReader(strings.NewReader(chunksOf(t, r.body)[0]))
		if err != nil {
			t.Fatal(err)
		}
		part := make([]byte, 6)
		if _, err := io.ReadFull(first, part); err != nil || string(part) != "data: " {
			t.Errorf("%v: %q", err, part)
		}
	})
}

// TestHolderKeepsAll: any buffer passes every byte on, in order, at times that
// never decrease, and holds none beyond its limits.
func TestHolderKeepsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := Buffer{Hold: Span(rng.IntN(3)) * Span(10*time.Millisecond), Bytes: rng.IntN(3) * 50}
		h := newHolder(b)
		if h == nil {
			continue
		}
		var in, out []byte
		var now time.Duration
		var segs []segment
		for i := range 40 {
			now += time.Duration(rng.IntN(8)) * time.Millisecond
			data := bytes.Repeat([]byte{byte(i)}, rng.IntN(30))
			in = append(in, data...)
			segs = h.pass(segs, segment{at: now, data: data})
			if b.Bytes > 0 && len(h.data) >= b.Bytes {
				t.Fatalf("%v holds %d bytes", b, len(h.data))
			}
			if b.Hold > 0 && len(h.data) > 0 && now-h.since > b.Hold.D() {
				t.Fatalf("%v holds bytes for %v", b, now-h.since)
			}
		}
		segs = h.pass(segs, segment{at: now, end: endWhole})
		last := time.Duration(0)
		for _, s := range segs {
			if s.at < last {
				t.Fatalf("%v: time goes back", b)
			}
			last = s.at
			out = append(out, s.data...)
		}
		if !bytes.Equal(in, out) || segs[len(segs)-1].end != endWhole {
			t.Fatalf("%v: %d bytes in, %d out", b, len(in), len(out))
		}
	}
}

func TestParseShape(t *testing.T) {
	const text = "no_role,reasoning=0.3,tools,unicode,interval=4,own_finish,usage=every,no_done,ping=1s,crlf,no_space,multiline,split=5,split_gap=1ms"
	s, err := ParseShape(text)
	if err != nil || s.String() != text {
		t.Errorf("%v, %q", err, s.String())
	}
	for text, says := range map[string]string{
		"multline": `did you mean "multiline"?`, "reasoning=2": "reasoning is 2", "usage=some": "usage is not", "ping=1us": "ping is 1µs",
		"split_gap=1ms": "needs split", "cr,crlf": "not both", "interval=-1": "interval is -1", "reasoning_field=x": "reasoning_field is not", "": "unknown key",
	} {
		if _, err := ParseShape(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if b, err := ParseBuffer("hold=50ms,bytes=4096,gzip"); err != nil || b.String() != "hold=50ms,bytes=4096,gzip" {
		t.Errorf("%v, %v", b, err)
	}
	for text, says := range map[string]string{"whole,hold=1s": "leave hold", "bytes=-1": "bytes is -1", "gzp": `did you mean "gzip"?`} {
		if _, err := ParseBuffer(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
