package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every source says what its mapping rests on, has sample logs with the records
// that they must give, and is told by them. A new source is one mapping file and
// such a folder.
func TestSourcesHaveSamples(t *testing.T) {
	list, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.evidence == "" && !slices.Contains([]string{"azure_llm", "lengths", "mooncake", "openai", "openai_batch", "openai_batch_output"}, s.name) {
			t.Errorf("%s does not say what it rests on", s.name)
		}
		dir := filepath.Join("..", "testdata", "logs", s.name)
		logs, _ := filepath.Glob(filepath.Join(dir, "log.*"))
		if len(logs) == 0 {
			t.Errorf("%s has no sample log", s.name)
		}
		for _, log := range logs {
			l, err := Open(t.Context(), Inputs{Paths: []string{log}})
			if err != nil || l.Schema().Name != s.name || !strings.Contains(l.Schema().Why, s.about) {
				t.Errorf("%s is taken for %v: %v", log, l, err)
			}
		}
		for _, golden := range []string{"expect.txt"} {
			if _, err := os.Stat(filepath.Join(dir, golden)); err != nil {
				t.Errorf("%s has no %s", s.name, golden)
			}
		}
	}
}

// Real traces of Langfuse. Generations, spans around them and totals were
// counted from the files by another program: what is kept adds up to the totals
// that the files give, whatever their inputs and outputs leave out.
func TestLangfuseFiles(t *testing.T) {
	for _, c := range []struct {
		file                     string
		observations, kept, rest int
		total                    int64
	}{
		{"agno-2025-06-11", 6, 2, 2, 1071}, {"autogen-2025-06-06", 2, 1, 0, 44}, {"claude-agent-2025-12-22", 7, 4, 0, 266},
		{"crewai-2025-07-11", 6, 1, 0, 354}, {"google-adk-2025-08-28", 5, 2, 0, 76}, {"google-gemini-2025-08-01", 1, 1, 0, 2061},
		{"langgraph-js-2025-10-30", 20, 2, 0, 444}, {"langgraph-python-2025-08-22", 9, 2, 0, 234},
		{"microsoft-agent-2025-12-17", 4, 2, 0, 399}, {"openai-agents-2025-09-30", 5, 2, 0, 184},
		{"pydantic-ai-tools-2025-06-06", 3, 1, 0, 127}, {"pydantic-ai-tools-2025-12-04", 12, 4, 0, 1524},
		{"vercel-aisdk-2025-11-17", 3, 1, 1, 147}, {"vertex-ai-2025-08-01", 1, 1, 0, 2023},
	} {
		t.Run(c.file, func(t *testing.T) {
			_, recs, bad, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "langfuse", c.file+".trace.json")}})
			if err != nil || len(bad) > 0 || len(recs) != c.observations {
				t.Fatalf("%d rows, %v %v", len(recs), bad, err)
			}
			kept, nested, total := 0, 0, int64(0)
			for _, r := range recs {
				switch r.Rule {
				case "":
					kept++
					total += int64(r.InputTokens.V) + int64(r.OutputTokens.V)
					if !r.Arrival.OK || !r.Duration.OK || r.Model == "" || !r.HasPrompt {
						t.Errorf("%+v", r)
					}
				case NestedCall:
					nested++
				case OtherSpan:
				default:
					t.Errorf("rule %s", r.Rule)
				}
			}
			if kept != c.kept || nested != c.rest || total != c.total {
				t.Errorf("%d kept, %d nested, %d tokens", kept, nested, total)
			}
		})
	}
}

// Real spans of Envoy AI gateway, against the attributes in the files.
func TestEnvoySpans(t *testing.T) {
	type counts struct{ in, out, reasoning int32 } // -1 is absent
	for file, want := range map[string]counts{
		"chat-audio-to-text": {28, 17, 0}, "chat-bad-request": {-1, -1, -1}, "chat-detailed-usage": {12, 100, 100},
		"chat-image-to-text": {22, 719, 704}, "chat-multimodal": {2245, 100, 100}, "chat-multiturn": {50, 526, 512},
		"chat-openai-agents-python": {171, 1962, 1664}, "chat-parallel-tools": {162, 219, 192},
		"chat-streaming-detailed-usage": {12, 100, 100}, "chat-streaming-web-search": {-1, -1, -1},
		"chat-text-to-audio": {22, 18, 0}, "chat-text-to-image-tool": {206, 150, 150}, "chat-unknown-model": {-1, -1, -1},
		"chat-web-search": {26, 22, 0}, "completion-basic": {31, 25, -1}, "completion-streaming-usage": {31, 25, -1},
		"completion-suffix": {25, 30, -1}, "completion-text-batch": {49, 58, -1}, "completion-token": {31, 25, -1},
		"completion-unknown-model": {-1, -1, -1},
	} {
		_, recs, bad, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "envoy-openinference-spans", file+".json")}})
		if err != nil || len(bad) > 0 || len(recs) != 1 || recs[0].Rule != "" {
			t.Fatal(file, recs, bad, err)
		}
		r := recs[0]
		got := counts{r.InputTokens.V, r.OutputTokens.V, r.ReasoningTokens.V}
		for _, c := range []struct {
			ok bool
			to *int32
		}{{r.InputTokens.OK, &got.in}, {r.OutputTokens.OK, &got.out}, {r.ReasoningTokens.OK, &got.reasoning}} {
			if !c.ok {
				*c.to = -1
			}
		}
		failed := strings.Contains(file, "unknown") || strings.Contains(file, "bad")
		if got != want || !r.HasPrompt || (r.Finish.String() == "error") != failed {
			t.Errorf("%s: %+v, finish %v, prompt %v", file, got, r.Finish, r.HasPrompt)
		}
		if strings.Contains(file, "streaming") != r.Stream.V {
			t.Errorf("%s: stream %v", file, r.Stream)
		}
	}
	for _, file := range []string{"embeddings-basic", "image-generation-basic", "audio-transcription-basic", "audio-translation-basic"} {
		_, recs, _, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "envoy-openinference-spans", file+".json")}})
		if err != nil || len(recs) != 1 || recs[0].Rule != NotGeneration {
			t.Errorf("%s: %v %v", file, recs, err)
		}
	}
}

// Text comes out of spans whatever convention they follow.
func TestSpanText(t *testing.T) {
	for file, want := range map[string]string{
		"openinference_client_span_tool_calls.json":         "The weather in Paris is currently rainy",
		"openinference_client_span_input_output_only.json":  "The weather in Paris is currently rainy",
		"otel_genai_deprecated_client_span_tool_calls.json": "The weather in Paris is currently rainy",
	} {
		_, recs, _, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "openinference", "genai", file)}})
		if err != nil || len(recs) != 1 {
			t.Fatal(file, err)
		}
		r := recs[0]
		if len(r.Messages) != 3 || r.Messages[0].Text != "Weather in Paris?" || r.Messages[1].Role != "assistant" ||
			r.Messages[2].Text != "rainy, 57°F" || !strings.HasPrefix(r.Output, want) || r.InputTokens.V != 97 || r.OutputTokens.V != 52 ||
			r.MaxTokens.V != 200 || r.Finish.String() != "stop" {
			t.Errorf("%s: %+v", file, r)
		}
	}
}

// The examples of the OTLP specification hold no call of a model, and say so.
func TestOTLPExamples(t *testing.T) {
	_, recs, bad, err := readAll(t, Inputs{Paths: []string{shared(t, "data", "otlp-json", "trace.json")}})
	if err != nil || len(bad) > 0 || len(recs) != 1 || recs[0].Rule != OtherSpan || recs[0].Span != "EEE19B7EC3C1B174" {
		t.Fatal(recs, bad, err)
	}
}
