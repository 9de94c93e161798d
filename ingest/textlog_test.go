package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"reprise/ingest/loglines"
	"reprise/ingest/rows"
	"reprise/ingest/shape"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// readText reads a log given as text.
func readText(t testing.TB, text string) (*Log, []Record, []*rows.Error, error) {
	return readAll(t, Inputs{Stdin: strings.NewReader(text)})
}

const vllmLine = `INFO 03-02 14:05:11 [logger.py:49] Received request chatcmpl-1: params: SamplingParams(n=1, max_tokens=7), lora_request: LoRARequest(lora_name='sql', lora_int_id=1).`

// A line is found in whatever envelope it comes, and the envelope's time is
// taken where there is one.
func TestEnvelopes(t *testing.T) {
	const at, whole = 1772460311482000, 1772460311000000
	month := int64(31+29+1)*86400 + 14*3600 + 5*60 + 11 // 2 March of a leap year
	for name, c := range map[string]struct {
		text string
		us   int64
	}{
		"bare":       {vllmLine, month * 1e6},
		"crlf":       {vllmLine + "\r", month * 1e6},
		"process":    {"(APIServer pid=1) " + vllmLine, month * 1e6},
		"old":        {strings.Replace(vllmLine, "[logger.py:49]", "logger.py:49]", 1), month * 1e6},
		"coloured":   {"\x1b[1;36m(APIServer pid=7)\x1b[0;0m " + vllmLine, month * 1e6},
		"docker":     {`{"log":"` + vllmLine + `\n","stream":"stdout","time":"2026-03-02T14:05:11.482000123Z"}`, at},
		"journald":   {`{"MESSAGE":"` + vllmLine + `","__REALTIME_TIMESTAMP":"1772460311482000"}`, at},
		"kubernetes": {"2026-03-02T14:05:11.482Z stdout F " + vllmLine, at},
		"logger":     {`{"timestamp":"2026-03-02 14:05:11,482","level":"INFO","message":"Received request chatcmpl-1: params: SamplingParams(n=1, max_tokens=7), lora_request: LoRARequest(lora_name='sql', lora_int_id=1)."}`, at},
		"seconds":    {`{"ts":1772460311,"msg":"` + vllmLine + `"}`, whole},
	} {
		t.Run(name, func(t *testing.T) {
			l, recs, bad, err := readText(t, "INFO starting\n"+c.text+"\nINFO more\n")
			if err != nil || len(bad) > 0 || len(recs) != 1 {
				t.Fatal(err, bad, recs)
			}
			r := recs[0]
			if l.Schema().Name != "vllm_log" || r.RequestID != "chatcmpl-1" || r.MaxTokens.V != 7 || r.Adapter != "sql" || r.Pos.Line != 2 {
				t.Fatalf("%s %+v", l.Schema().Name, r)
			}
			if r.Arrival.V != c.us || r.Relative != (c.us == month*1e6) {
				t.Fatalf("arrival %d, want %d", r.Arrival.V, c.us)
			}
		})
	}
}

// Texts that speak of such lines are not such logs.
func TestNotTextLines(t *testing.T) {
	for name, text := range map[string]string{
		"csv":   "prompt,input_tokens,output_tokens\n\"why does it say Received request chatcmpl-1: params: x\",5,6\n\"INFO: 1.2.3.4:5 - \"\"POST /v1/completions HTTP/1.1\"\" 200 OK\",5,6\n",
		"jsonl": `{"input_tokens":5,"output_tokens":6,"prompt":"Received request a: params: SamplingParams(n=1)"}` + "\n",
		"body":  `{"timestamp":1772460311,"request":{"messages":[{"role":"user","content":"[2026-03-02 14:05:11] Receive: obj=GenerateReqInput(rid='1')"}]}}` + "\n",
	} {
		l, _, _, err := readText(t, text)
		if err != nil || l.Found()[0].Container == "text lines" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A prompt of many megabytes in one line is read.
func TestLongLines(t *testing.T) {
	prompt := strings.Repeat("It's long. ", 1<<18)
	text := "banner\n" + fmt.Sprintf("INFO 03-02 14:05:11 [logger.py:43] Received request cmpl-1: prompt: \"%s\", params: SamplingParams(n=1), lora_request: None.\n", prompt) + "tail\n"
	_, recs, bad, err := readText(t, text)
	if err != nil || len(bad) > 0 || len(recs) != 1 || recs[0].Prompt != prompt {
		t.Fatal(err, bad, len(recs))
	}
}

func knownSets(t testing.TB) []*loglines.Set {
	known, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	return lineSets(known, nil)
}

// A mapping of the user's can bring its own kinds of line.
func TestOwnLines(t *testing.T) {
	s, err := parseMappingFile([]byte(`
name: ours
require: [call.model]
shape:
  lines:
    - {name: call, match: '^(?P<at>\S+) call (?P<model>\S+) in=(?P<in>\d+) out=(?P<out>\d+) took (?P<took>\S+)$', spans: [took], times: {at: "2006-01-02T15:04:05Z07:00"}}
fields:
  arrival: call.at
  model: call.model
  input_tokens: call.in
  output_tokens: call.out
  duration: call.took@s
`))
	if err != nil {
		t.Fatal(err)
	}
	text := "2026-03-02T15:05:11+01:00 call m in=5 out=6 took 52.5ms\nnoise\n2026-03-02T15:05:12+01:00 call m in=5 out=6 took soon\n"
	_, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(text), Map: &Mapping{file: s}})
	if err != nil || len(recs) != 1 || len(bad) != 1 || bad[0].Reason != rows.BadLine {
		t.Fatal(err, recs, bad)
	}
	if r := recs[0]; r.Arrival.V != 1772460311000000 || r.Duration.V != 52500 || r.InputTokens.V != 5 {
		t.Fatalf("%+v", r)
	}
	for _, text := range []string{"name: x\nrequire: [a.b]\nshape:\n  lines:\n    - {name: a, match: '('}\nfields: {model: a.b}\n",
		"name: x\nrequire: [a.b]\nshape:\n  lines:\n    - {match: 'a'}\nfields: {model: a.b}\n"} {
		if _, err := parseMappingFile([]byte(text)); err == nil {
			t.Error("taken")
		}
	}
}

// Whatever a text log holds, reading it ends, positions grow, and errors say
// nothing of what was in it.
func FuzzTextLines(f *testing.F) {
	f.Add([]byte(vllmLine + "\n"))
	f.Add([]byte(`[2026-03-02 14:05:11] Receive: obj=GenerateReqInput(rid='r1', text="it's", sampling_params={'n': 1})` + "\n"))
	f.Add([]byte(`{"log":"INFO:     1.2.3.4:5 - \"POST /v1/completions HTTP/1.1\" 200 OK\n","time":"2026-03-02T14:05:11Z"}` + "\n"))
	f.Add([]byte("600,0.25,1.1,Gamma,0.8,0.3\n"))
	sets := knownSets(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, set := range sets {
			r := loglines.Open(&source.Source{Name: "x"}, bytes.NewReader(text), set)
			at := int64(0)
			for {
				pos, err := r.Next()
				if err == io.EOF {
					break
				}
				if pos.Line <= at {
					t.Fatalf("line %d after %d", pos.Line, at)
				}
				at = pos.Line
				if err != nil && !strings.HasPrefix(err.Error(), " item 0: bad_line: a ") {
					t.Fatal(err)
				}
			}
		}
	})
}

// Whatever rows come, every shape ends, and no request is made of nothing.
func FuzzShapes(f *testing.F) {
	for _, s := range []string{
		`{"event":"request.received","rid":"a","obj":{"text":"x"}}` + "\n" + `{"event":"request.finished","rid":"a","obj":{},"out":{}}`,
		`{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}`,
		`{"question_id":1,"turns":["a","b"]}`,
		`{"type":"user","message":{"role":"user","content":"a"}}` + "\n" + `{"type":"assistant","message":{"role":"assistant","id":"m","content":[],"usage":{"input_tokens":1}}}`,
		`{"type":"session_meta","payload":{"id":"s"}}` + "\n" + `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"a":1},"last_token_usage":{"input_tokens":1}}}}`,
		`{"history":[{"action":"message","args":{"content":"a"}},{"action":"run","args":{"thought":"b"},"source":"agent"}]}`,
		`{"chat_id":1,"parent_chat_id":-1,"timestamp":1,"input_length":2,"output_length":3,"hash_ids":[1]}`,
		`{"post":[{"dotted_order":"a","run_type":"llm"}],"patch":[{"dotted_order":"a"}]}`,
		`{"custom_id":"a","body":{"prompt":"x"}}` + "\n" + `{"custom_id":"a","response":{"body":{}}}`,
	} {
		f.Add([]byte(s))
	}
	known, err := schemas()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rowsIn := int64(bytes.Count(text, []byte("\n")) + 1)
		for i := range known {
			s := known[i].mapping.shape.NewShaper()
			if s == nil {
				continue
			}
			tk := &taken{mapping: &known[i].mapping}
			r, _ := textfile.OpenJSONL(&source.Source{Name: "x"}, bytes.NewReader(text))
			l := &Log{ctx: context.Background()}
			n := int64(0)
			from, err := shape.Of(r, s, true)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = l.rows(from, tk, func(Record, error) bool { n++; return true })
			if err != nil {
				t.Fatal(known[i].name, err)
			}
			if c := s.Counts(); c.Rows > rowsIn || c.Requests > n {
				t.Fatalf("%s: %+v of %d rows, %d records", known[i].name, c, rowsIn, n)
			}
		}
	})
}
