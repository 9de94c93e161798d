package mock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/replay/mock/engine"
)

// accepted are the differences from the real server that we keep, each a
// pattern of "case place kind", and why. One that no longer shows fails.
var accepted = [][2]string{
	{`^\S+ header\.(Server|Vary) missing$`, "no uvicorn serves here, and nothing depends on Origin"},
	{`^\S+ header\.X-Request-Id extra$`, "OpenAI names an answer so, and the client keeps it; vLLM does only with --enable-request-id-headers"},
	{`^\S+ (body|event\d)\.system_fingerprint value$`, "it does not claim to be vLLM"},
	{`^models body\.data\[\]\.owned_by value$`, "it does not claim to be vLLM"},
	{`^\S+ \S+\.(content|text) words$`, "words of no model"},
	{`^(bad-no-model|unknown-field|chat\S*|text(|-default-max-tokens|-echo-off|-eos|-list-of-one|-stop)) \S+\.(prompt|total)_tokens value$`, "another tokenizer; token ids count the same"},
	{`^tokenize-(prompt|messages) body\.(count|tokens|tokens\[\]) (value|length)$`, "another tokenizer"},
	{`^(chat-n2|chat-stream-n2|text-n2|text-two-prompts) `, "one completion a request: more are refused"},
	{`^bad-token-large `, "no vocabulary, so no id is out of it"},
	{`^text-stop body\.(choices\[\]\.(stop_reason|finish_reason)|usage\.(completion|total)_tokens) `, "stop strings cut a model's text, not words of no model"},
	{`^max-tokens-beyond body\.(choices\[\]\.finish_reason|usage\.(completion|total)_tokens) value$`, "the law draws when an answer ends by itself; the random model never did"},
	{`^(chat|text)-eos body\.(choices\[\]\.(message\.content|text)|usage\.(completion|total)_tokens) value$`, "the law draws when an answer ends by itself; there it was told to with its first token"},
	{`^bad-(content-type|prompt-type|token-negative) body\.error\.message value$`, "pydantic lists every alternative of a union; the first is named here"},
	{`^bad-json body\.error\.message value$`, "Python's words for what is wrong with JSON"},
	{`^(head-health|wrong-method-(health|models)) (status|header\.(Allow|Content-Type)) `, "HEAD is answered wherever GET is, as HTTP asks"},
	{`^metrics family\.vllm:estimated_\S+ missing$`, "no model, so no estimate of its work"},
	{`^metrics series\.vllm:cache_config_info (missing|extra)$`, "labels of settings that there are not"},
}

// quoted is what pydantic's messages quote of the request; the mock quotes nothing.
var quoted = regexp.MustCompile(`, 'input': '[^']*'`)

// TestAnswersOfVLLM holds the mock's answers against those of the real server,
// field by field.
func TestAnswersOfVLLM(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vllmDir, "*.json"))
	if err != nil || len(files) < 60 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, net := range []bool{false, true} {
		t.Run(fmt.Sprintf("net_http=%v", net), func(t *testing.T) { holdAgainst(t, files, net) })
	}
}

func holdAgainst(t *testing.T, files []string, net bool) {
	s, err := Start(t.Context(), testConfig(func(c *Config) {
		c.Model, c.Version, c.NetHTTP, c.Law.MaxModelLen, c.Law.Blocks = "tiny", "0.32.0", net, 4096, 1024
		c.Law.Output = engine.OutputLaw{Median: 4} // as the streams that end by themselves
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	used, same := make([]int, len(accepted)), 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		data, err := os.ReadFile(file)
		var want recorded
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := recorded{Request: want.Request}
		askVLLM(t, client, s.URL(), &got)
		got.strip()
		want.Body = quoted.ReplaceAllString(want.Body, "")
		inBody := 0
		for _, d := range differences(&want, &got) {
			if !strings.HasPrefix(d.place, "header.") {
				inBody++
			}
			line := name + " " + d.place + " " + d.kind
			if i := slices.IndexFunc(accepted, func(a [2]string) bool { return regexp.MustCompile(a[0]).MatchString(line) }); i >= 0 {
				used[i]++
				continue
			}
			t.Errorf("%s: %s", line, d.text)
		}
		if inBody == 0 {
			same++
		}
	}
	for i, n := range used {
		if n == 0 {
			t.Errorf("the difference %q no longer shows: take it off the list", accepted[i][0])
		}
	}
	t.Logf("%d cases, %d alike but for headers, %d differences accepted under %d rules", len(files), same, sum(used), len(accepted))
}

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

// difference is one between two answers: where, of which kind (missing, extra,
// order, type, value, length), and what was seen.
type difference struct{ place, kind, text string }

func differences(want, got *recorded) []difference {
	var d differ
	if want.Status != got.Status {
		d.note("status", "value", want.Status, got.Status)
	}
	for _, name := range union(want.Headers, got.Headers) {
		w, inWant := want.Headers[name]
		g, inGot := got.Headers[name]
		switch {
		case !inGot:
			d.note("header."+name, "missing", w, "")
		case !inWant:
			d.note("header."+name, "extra", "", g)
		case w != g:
			d.note("header."+name, "value", w, g)
		}
	}
	switch kind := want.Headers["Content-Type"]; {
	case want.Request.Path == "/metrics":
		d.series(want.Body, got.Body)
	case strings.HasPrefix(kind, "text/event-stream"):
		d.stream(want.Body, got.Body)
	case kind == "application/json" && want.Request.Method != http.MethodHead:
		d.json("body", want.Body, got.Body)
	case want.Body != got.Body:
		d.note("body", "value", want.Body, got.Body)
	}
	return d.list
}

func union(a, b map[string]string) (names []string) {
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

type differ struct{ list []difference }

func (d *differ) note(place, kind string, want, got any) {
	d.list = append(d.list, difference{place, kind, fmt.Sprintf("want %.160q, got %.160q", fmt.Sprint(want), fmt.Sprint(got))})
}

// series compares metrics pages: each family that both have, and which only
// one has.
func (d *differ) series(want, got string) {
	w, g := families(want), families(got)
	for name, lines := range w {
		if g[name] == nil {
			d.note("family."+name, "missing", "", "")
			continue
		}
		for _, line := range lines {
			if !slices.Contains(g[name], line) {
				d.note("series."+name, "missing", line, "")
			}
		}
		for _, line := range g[name] {
			if !slices.Contains(lines, line) {
				d.note("series."+name, "extra", "", line)
			}
		}
	}
	for name := range g {
		if w[name] == nil {
			d.note("family."+name, "extra", "", "")
		}
	}
}

func families(page string) map[string][]string {
	out, name := map[string][]string{}, ""
	for line := range strings.Lines(page) {
		if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(kind, " ")
		}
		out[name] = append(out[name], line)
	}
	return out
}

// stream compares events one by one, by their data and the bytes around it.
func (d *differ) stream(want, got string) {
	w, g := strings.SplitAfter(want, "\n\n"), strings.SplitAfter(got, "\n\n")
	if len(w) != len(g) {
		d.note("events", "length", len(w)-1, len(g)-1)
	}
	for i := range min(len(w), len(g)) {
		wd, wok := strings.CutPrefix(w[i], "data: {")
		gd, gok := strings.CutPrefix(g[i], "data: {")
		if wok && gok {
			d.json(fmt.Sprintf("event%d", i), "{"+wd, "{"+gd)
		} else if w[i] != g[i] {
			d.note(fmt.Sprintf("event%d", i), "value", w[i], g[i])
		}
	}
}

// json compares two documents; the bytes behind them count too.
func (d *differ) json(place, want, got string) {
	wd, gd := json.NewDecoder(strings.NewReader(want)), json.NewDecoder(strings.NewReader(got))
	w, errW := readNode(wd)
	g, errG := readNode(gd)
	if errW != nil || errG != nil {
		d.note(place, "type", errW, errG)
		return
	}
	if a, b := want[wd.InputOffset():], got[gd.InputOffset():]; a != b {
		d.note(place+".end", "value", a, b)
	}
	d.node(place, w, g)
}

// node is a JSON value that keeps the order of its keys.
type node struct {
	kind  byte // {, [, or that of a scalar: s, n, b, 0
	keys  []string
	items []*node
	text  string
}

func (n *node) at(key string) *node {
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.items[i]
	}
	return nil
}

func readNode(d *json.Decoder) (*node, error) {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &node{text: fmt.Sprint(token)}
	switch v := token.(type) {
	case string:
		n.kind = 's'
	case json.Number:
		n.kind = 'n'
	case bool:
		n.kind = 'b'
	case nil:
		n.kind = '0'
	case json.Delim:
		n.kind = byte(v)
		for d.More() {
			if n.kind == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				n.keys = append(n.keys, key.(string))
			}
			item, err := readNode(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = d.Token()
	}
	return n, err
}

func (d *differ) node(place string, want, got *node) {
	switch {
	case want.kind != got.kind:
		d.note(place, "type", string(want.kind)+want.text, string(got.kind)+got.text)
	case want.kind == '{':
		d.object(place, want, got)
	case want.kind == '[':
		if len(want.items) != len(got.items) {
			d.note(place, "length", len(want.items), len(got.items))
		}
		for i := range min(len(want.items), len(got.items)) {
			d.node(place+"[]", want.items[i], got.items[i])
		}
	case want.kind == 's' && want.text != "" && got.text != "" && want.text != got.text && (strings.HasSuffix(place, ".content") || strings.HasSuffix(place, ".text")):
		d.note(place, "words", want.text, got.text)
	case want.text != got.text:
		d.note(place, "value", want.text, got.text)
	}
}

func (d *differ) object(place string, want, got *node) {
	var common []string
	for _, key := range want.keys {
		if other := got.at(key); other != nil {
			d.node(place+"."+key, want.at(key), other)
			common = append(common, key)
		} else {
			d.note(place+"."+key, "missing", want.at(key).text, "")
		}
	}
	for _, key := range got.keys {
		if want.at(key) == nil {
			d.note(place+"."+key, "extra", "", got.at(key).text)
		}
	}
	order := slices.DeleteFunc(slices.Clone(got.keys), func(k string) bool { return want.at(k) == nil })
	if !slices.Equal(common, order) {
		d.note(place, "order", common, order)
	}
}

// TestDifferences: the comparison sees each kind.
func TestDifferences(t *testing.T) {
	for _, c := range []struct{ want, got, found string }{
		{`{"a":1,"b":[1,"x"]}`, `{"a":1,"b":[1,"x"]}`, ""},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "body order"},
		{`{"a":1}`, `{}`, "body.a missing"}, {`{}`, `{"a":null}`, "body.a extra"},
		{`{"a":1}`, `{"a":"1"}`, "body.a type"}, {`{"a":null}`, `{"a":0}`, "body.a type"},
		{`[1,2]`, `[1]`, "body length"}, {`[{"a":"x"}]`, `[{"a":"y"}]`, "body[].a value"},
		{`{}`, "{}\n", "body.end value"}, {`{}`, `{`, "body type"},
	} {
		var d differ
		d.json("body", c.want, c.got)
		var out bytes.Buffer
		for _, f := range d.list {
			out.WriteString(f.place + " " + f.kind)
		}
		if out.String() != c.found {
			t.Errorf("%s and %s: %q, want %q", c.want, c.got, out.String(), c.found)
		}
	}
}
