package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Input and output of a batch are one log whichever comes first: requests with
// their answers, the one without an answer too. Given alone, each is a log.
func TestBatchPair(t *testing.T) {
	dir := filepath.Join("..", "testdata", "logs", "openai_batch", "pair")
	in, out := filepath.Join(dir, "input.jsonl"), filepath.Join(dir, "output.jsonl")
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{in}, "a 4/0 b 4/0 c 4/0"},
		{[]string{out}, "a 8/4 b 0/0"},
		{[]string{in, out}, "a 8/4 b 4/0 c 4/0"},
		{[]string{out, in}, "a 8/4 b 4/0 c 4/0"},
		{[]string{dir}, "a 8/4 b 4/0 c 4/0"},
	} {
		_, recs, bad, err := readAll(t, Inputs{Paths: c.paths})
		if err != nil || len(bad) > 0 {
			t.Fatal(err, bad)
		}
		var got []string
		for _, r := range recs {
			in := r.InputTokens.V
			if !r.InputTokens.OK && r.HasPrompt {
				in = 4 // stands for a prompt
			}
			got = append(got, fmt.Sprintf("%s %d/%d", r.RequestID, in, r.OutputTokens.V))
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.paths, s, c.want)
		}
	}
}

// vLLM since 0.11.2, in Docker's envelope: the prompt is in a line of level
// DEBUG before that of the request, the answer in one of its own.
func TestVLLMDetails(t *testing.T) {
	var text strings.Builder
	for i, line := range []string{
		`(APIServer pid=1) DEBUG 03-02 14:05:11 [logger.py:58] Request chatcmpl-b8 details: prompt: '<|user|>It\'s "hi"\n<|assistant|>', prompt_token_ids: [9, 8, 7], prompt_embeds shape: None.`,
		`(APIServer pid=1) INFO 03-02 14:05:11 [logger.py:49] Received request chatcmpl-b8: params: SamplingParams(n=1, temperature=0.7, max_tokens=100, structured_outputs=StructuredOutputsParams(json='{"type": "object"}')), lora_request: LoRARequest(lora_name='sql', lora_int_id=1).`,
		`(APIServer pid=1) INFO 03-02 14:05:12 [logger.py:80] Generated response chatcmpl-b8 (streaming delta): output: 'hel', output_token_ids: [1], finish_reason: None`,
		`(APIServer pid=1) INFO 03-02 14:05:12 [logger.py:80] Generated response chatcmpl-b8 (streaming complete): output: 'hello', output_token_ids: [1, 2], finish_reason: stop`,
	} {
		quoted, _ := json.Marshal(line + "\n")
		fmt.Fprintf(&text, `{"log":%s,"stream":"stderr","time":"2026-03-02T14:05:11.%03dZ"}`+"\n", quoted, 100*i)
	}
	_, recs, bad, err := readText(t, text.String())
	if err != nil || len(bad) > 0 || len(recs) != 1 {
		t.Fatal(err, bad, recs)
	}
	want := `1 t=1772460311100000 end=1772460311300000 dur=200000 id=chatcmpl-b8 adapter=sql api=chat out=2 max=100 stream=true schema=true n=1 finish=stop ids=[9 8 7] ` +
		"\n\t" + `->="hello"`
	if got := describeRecord(&recs[0]); got != want {
		t.Errorf("gives %s\nwant %s", got, want)
	}
}

// A session that was resumed repeats its calls in another file, under the same
// ids. They are counted once, and the new ones go on from them.
func TestResumedSession(t *testing.T) {
	row := func(kind, id, text string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s","requestId":"r%s","timestamp":"2026-03-02T14:05:11Z","message":{"role":%q,"id":%q,"content":%q}}`+"\n", kind, id, kind, id, text)
	}
	first := row("user", "", "one") + row("assistant", "m1", "1")
	second := first + row("user", "", "two") + row("assistant", "m2", "2")
	dir := t.TempDir()
	for name, text := range map[string]string{"a.jsonl": first, "b.jsonl": second} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{dir}})
	if err != nil || len(bad) > 0 || len(recs) != 2 || len(recs[1].Messages) != 4 || recs[1].Parent != "m1/rm1" {
		t.Fatal(err, bad, recs)
	}
	if !strings.Contains(strings.Join(l.Notes(), "\n"), "1 requests were there more than once") {
		t.Fatal(l.Notes())
	}
}

// WildChat is Parquet with a list of structs, LangSmith's bulk export Parquet
// with bodies as text: conversations are taken apart there too.
func TestColumnarShapes(t *testing.T) {
	type utterance struct {
		Content   string     `parquet:"content"`
		Role      string     `parquet:"role"`
		HashedIP  *string    `parquet:"hashed_ip,optional"`
		Timestamp *time.Time `parquet:"timestamp,optional,timestamp(microsecond)"`
	}
	type row struct {
		Hash         string      `parquet:"conversation_hash"`
		Model        string      `parquet:"model"`
		Conversation []utterance `parquet:"conversation,list"`
	}
	at := time.Date(2026, 3, 2, 14, 5, 11, 250_000_000, time.UTC)
	ip := "ip1"
	wild := filepath.Join(t.TempDir(), "wild.parquet")
	if err := parquet.WriteFile(wild, []row{{"h1", "planet", []utterance{{"Hi?", "user", &ip, nil}, {"Hello.", "assistant", nil, &at},
		{"And?", "user", &ip, nil}, {"No.", "assistant", nil, &at}}}}); err != nil {
		t.Fatal(err)
	}
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{wild}})
	if err != nil || len(bad) > 0 || len(recs) != 2 || l.Schema().Name != "lmsys_wildchat" {
		t.Fatal(err, bad, recs)
	}
	if r := recs[1]; len(r.Messages) != 3 || r.Output != "No." || r.Arrival.V != at.UnixMicro() || r.Client != "ip1" || r.Parent != "h1#0" || r.Model != "planet" {
		t.Fatalf("%+v", r)
	}
	type run struct {
		ID      string    `parquet:"id"`
		RunType string    `parquet:"run_type"`
		Start   time.Time `parquet:"start_time,timestamp(microsecond)"`
		Inputs  string    `parquet:"inputs"`
		Outputs string    `parquet:"outputs"`
		Prompt  *int64    `parquet:"prompt_tokens,optional"`
		Session string    `parquet:"session_id"`
	}
	n := int64(9)
	smith := filepath.Join(t.TempDir(), "runs.parquet")
	if err := parquet.WriteFile(smith, []run{{"a", "llm", at, `{"messages":[{"role":"user","content":"Hi?"}],"stream":true}`,
		`{"choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage_metadata":{"input_tokens":9,"output_tokens":3}}`, &n, "project"},
		{"b", "chain", at, "{}", "{}", nil, "project"}}); err != nil {
		t.Fatal(err)
	}
	l, recs, bad, err = readAll(t, Inputs{Paths: []string{smith}})
	if err != nil || len(bad) > 0 || len(recs) != 2 || l.Schema().Name != "langsmith" {
		t.Fatal(err, bad, recs)
	}
	if r := recs[0]; r.InputTokens.V != 9 || r.OutputTokens.V != 3 || r.Output != "Hello." || !r.Stream.V || r.Session != "" || recs[1].Rule != OtherSpan {
		t.Fatalf("%+v", recs)
	}
}

// Azure's trace of 2024 has the columns of 2023 and times with an offset; that
// of 2025 has images, whose tokens the context holds.
func TestAzureLater(t *testing.T) {
	for text, want := range map[string]string{
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 02:00:00.017335+02:00,2399,6\n": "2 t=1715299200009930 in=2162 out=5|3 t=1715299200017335 in=2399 out=6",
		"TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-02 12:00:00.5,2,1500,7\n":                                         "2 t=1727870400500000 in=1500 out=7",
	} {
		l, recs, bad, err := readText(t, text)
		if err != nil || len(bad) > 0 || l.Schema().Name != "azure_llm" || len(l.Unmapped()) > 0 {
			t.Fatal(err, bad, l.Schema(), l.Unmapped())
		}
		var got []string
		for i := range recs {
			got = append(got, describeRecord(&recs[i]))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
}

// SGLang's level 2 cuts the middle out of long texts and lists of ids. Three
// dots by themselves are no sign of that.
func TestSGLangCut(t *testing.T) {
	ids := strings.Repeat("7,", 1024)
	for name, c := range map[string]struct {
		prompt string
		cut    bool
	}{
		"text":  {`"text":"` + strings.Repeat("é", 1024) + "..." + strings.Repeat("z", 1024) + `"`, true},
		"dots":  {`"text":"` + strings.Repeat("é", 1023) + "..." + strings.Repeat("z", 1024) + `"`, false},
		"short": {`"text":"well..."`, false},
		"ids":   {`"input_ids":[` + ids + `"...",` + strings.TrimSuffix(ids, ",") + `]`, true},
		"few":   {`"input_ids":[1,2]`, false},
	} {
		text := `{"timestamp":"2026-03-02T14:05:11","event":"request.finished","rid":"1","obj":{` + c.prompt + `},"out":{"meta_info":{"prompt_tokens":9}}}` + "\n"
		_, recs, bad, err := readText(t, text)
		if err != nil || len(bad) > 0 || len(recs) != 1 || recs[0].Truncated != c.cut || !recs[0].HasPrompt || recs[0].InputTokens.V != 9 {
			t.Errorf("%s: %v %v %+v", name, err, bad, recs)
		}
	}
}
