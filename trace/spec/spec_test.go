package spec

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

const goldenPath = "../../testdata/vectors/v1/sample.spec.json"

// sample uses every key of the format.
func sample() *Spec {
	p := Provenance{From: Measured, N: 1000}
	num := func(v float64, unit string) *Number { n := MeasuredNumber(v, unit, 1000); return &n }
	table := func(v ...float64) Table { return Table{p, Nums([]float64{0, 0.5, 1}), Nums(v)} }
	length := func(v ...float64) Length {
		return Length{Mean: *num(v[1], "tokens"), SD: num(12.3456789, "tokens"), Quantiles: table(v...), Families: []Family{
			{Provenance: p, Name: "lognormal", Params: []Param{{"mu", Round(6.633312928)}, {"sigma", Round(0.9851542701)}},
				LogL: Round(-155650.2439), BIC: Round(311320.2304), KS: Round(0.1594165521), Label: "descriptive"}}}
	}
	q := Question{Mix: "the chat mix", DateLabel: "a Thursday in November", Load: Load{5.53042, "1/s"},
		SLO: []SLO{{"ttft", 95, 800, "client"}, {"tpot", 99, 50, "client"}}, Region: "eu-west", Comparison: "none",
		OutOfScope: []string{"images"}, ClientRunBy: "vendor", Handoff: "reprise replay trace.parquet --url $URL"}
	q.Sentence = q.Build()
	return &Spec{
		Kind: Kind, Version: Version, Revision: 2, Supersedes: &Supersedes{1, strings.Repeat("0a", 32)}, Status: Proposed,
		Question: q,
		Workload: Workload{
			Lengths: Lengths{Input: length(2, 1020, 14050), Output: length(7, 129, 1000), Spearman: num(0.0727508936, "1"),
				Joint: &Joint{p, []Stratum{{Upto: 500, N: 400, P: Nums([]float64{0, 1}), Output: Nums([]float64{7, 90})}, {Upto: 14050, N: 600, P: Nums([]float64{0, 1}), Output: Nums([]float64{20, 1000})}}}},
			Arrivals: Arrivals{Process: ProcessCounts, Rate: *num(5.530421989, "1/s"), Span: num(3501.721937, "s"), Resolution: num(1e-6, "s"),
				Rates:      &RateSeries{p, 60, 21, "Thu 18:15:46.680590", []int64{310, 0, 45}},
				PeakToMean: []Peak{{p, 1, Round(2.892790746), Round(2.5311919), Round(2.8927907), Round(3.2543896)}},
				IDC:        []ScaleValue{{p, 60, Round(16.41121104)}}, CV: num(1.094198234, "1"), LocalCV: num(1.034335351, "1"),
				Gamma: &GammaShape{num(0.835233646, "1"), num(0.8709678037, "1"), "the two differ"},
				Split: &Split{p, []SplitStep{{60, 30, Round(0.0017799307), Round(0.00055)}}}, PeakHour: &PeakWindow{p, 0, 3600, 5.5, "Thu 18:15"},
				Notes: []string{"a note"}},
			Prefix: Prefix{BlockTokens: 16, ShareRequests: num(0.9, "1"), HitRates: []HitRate{{"tokens", "input tokens", *num(0.3736237491, "1")}},
				Roots: []Root{{p, 512, 1}}, Model: &Reuse{p, num(0.8123456, "1"), Nums([]float64{0, 1}), []ReuseStratum{{14050, 1000, Nums([]float64{0, 8}), Nums([]float64{1, 400})}}}, Notes: []string{"a note"}},
			Sessions: &Sessions{Count: *num(8132, "sessions"), MeanTurns: *num(1.479463847, "1"), ShareMultiple: *num(0.243974422, "1"), Turns: table(1, 1, 43)},
			Features: Features{Stream: num(1, "1"), Tools: num(0.1, "1"), Schema: num(0, "1"), Several: num(0, "1"), Chat: num(1, "1"),
				Models: []Share{{"model1", *num(1, "1")}}, Adapters: []Share{{"adapter1", *num(0.5, "1")}}},
		},
		Runs:         []Run{{"B", "open_loop", Load{5.5, "1/s"}, 600}},
		Privacy:      Privacy{"aggregate", 20, 5, "hour_of_week", []string{"spec.json"}, []string{"workload.lengths.input.quantiles: p=1"}},
		Synth:        Synth{trace.Named{Name: "o200k_base", SHA256: strings.Repeat("ab", 32)}, strings.Repeat("cd", 32)},
		DataRequests: []DataRequest{{"the session id of each request", []string{"workload.sessions"}}},
		Artifacts:    []Artifact{{"audit.json", 1234567, strings.Repeat("ef", 32)}},
		Approvals:    []Approval{{"customer", "alice@customer.example"}, {"vendor", "bob@vendor.example"}},
		Tool:         trace.Tool{Name: "reprise", Version: "0.0.0", Commit: "none"},
	}
}

func encoded(t *testing.T, s *Spec) []byte {
	t.Helper()
	b, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	b := encoded(t, sample())
	s, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, s), b) {
		t.Fatal("decoding and encoding changes the bytes")
	}
	for _, want := range []string{`"value": 5.53042,`, `"value": 0.000001,`, `"bytes": 1234567,`, `"log_likelihood": -155650,`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
}

func TestGolden(t *testing.T) {
	if *update {
		if err := os.MkdirAll(filepath.Dir(goldenPath), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenPath, encoded(t, sample()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Decode(encoded(t, sample()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatal("the golden spec of version 1 reads differently")
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encoded(t, sample()))
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for want, bad := range map[string]string{
		"empty":                 "",
		"ends early":            good[:len(good)/2],
		"unknown key":           edit(`"revision": 2,`, `"revision": 2, "extra": 1,`),
		"duplicate key":         edit(`"revision": 2,`, `"revision": 2, "revision": 2,`),
		`duplicate key "Kind"`:  edit(`"version": 1,`, `"version": 1, "Kind": "x",`),
		"one encoding: line 4":  edit(`"revision": 2,`, `"revision":  2,`),
		"one encoding: line 1":  strings.ReplaceAll(good, "\n", "\r\n"),
		"after the end":         good + "{}",
		"one encoding: line 15": edit(`"value": 5.53042,`, `"value": 5.5304199,`),
		"UTF-8":                 edit("eu-west", "eu\xff"),
		"version is 3":          edit(`"version": 1,`, `"version": 3,`),
		"status is":             edit(`"proposed"`, `"maybe"`),
		"metric is":             edit(`"ttft"`, `"speed"`),
		"not a new plain":       edit(`"audit.json"`, `"../audit.json"`),
		"64 lower-case hex":     edit(strings.Repeat("ef", 32), strings.Repeat("EF", 32)),
		"one encoding: line 34": edit(`"out_of_scope": [
      "images"
    ]`, `"out_of_scope": null`),
		"workload.lengths.spearman: from is": edit(`"unit": "1",
        "from": "measured"`, `"unit": "1",
        "from": "guessed"`),
		"role is":               edit(`"role": "vendor"`, `"role": "customer"`),
		"principal is empty":    edit("bob@vendor.example", "bob vendor"),
		"value 2 is out of":     edit("14050", "1"),
		"wrong type":            edit(`"revision": 2,`, `"revision": "2",`),
		"supersedes.revision 2": edit("\"revision\": 1,\n    \"sha256\"", "\"revision\": 2,\n    \"sha256\""),
	} {
		_, err := Decode([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	}
}

func TestMissing(t *testing.T) {
	if m := sample().Question.Missing(); len(m) != 0 {
		t.Fatalf("the sample lacks %v", m)
	}
	if m := (Question{}).Missing(); len(m) != 9 {
		t.Fatalf("an empty question lacks %v", m)
	}
}

func TestSentence(t *testing.T) {
	want := "Does one replica in eu-west, offered 5.53042 requests per second of the chat mix (a Thursday in November) open loop, keep " +
		"the 95th percentile of TTFT at the client at or below 800 ms and the 99th percentile of TPOT at the client at or below 50 ms?"
	if got := sample().Question.Sentence; got != want {
		t.Fatalf("got %s", got)
	}
	if err := sample().Question.Unanswered(); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string]func(*Question){
		"sentence": func(q *Question) { q.Sentence = "Is it fine?" },
		"load":     func(q *Question) { q.Load.Value = 80 },
		"limit":    func(q *Question) { q.SLO[1].Percentile = 95 },
		"place":    func(q *Question) { q.Region = "us-east" },
		"missing":  func(q *Question) { q.Comparison = "" },
		"today":    func(q *Question) { q.Today = &Today{Said: "about 8 s"} },
	} {
		q := sample().Question
		edit(&q)
		if q.Unanswered() == nil {
			t.Errorf("%s: the sentence is taken for that of other parts", name)
		}
	}
	// Numbers are said as the file holds them, and long times in seconds.
	for ms, want := range map[Num]string{800: "800 ms", 999.9: "999.9 ms", 12000: "12 s", 1250: "1.25 s", 1234.56789: "1.23457 s"} {
		if got := spoken(ms); got != want {
			t.Errorf("%v ms are said as %s, want %s", float64(ms), got, want)
		}
	}
	if l := (Load{5.530421989, "1/s"}).String(); l != "5.53042 requests per second" {
		t.Error(l)
	}
	for p, want := range map[Num]string{50: "50th", 91: "91st", 92: "92nd", 93: "93rd", 99.9: "99.9th", 11: "11th"} {
		if got := ordinal(p); got != want {
			t.Errorf("%v is %s", p, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, err := Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"kind":"reprise.spec"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			return
		}
		if again, err := Encode(s); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted bytes that Encode does not write (%v)", err)
		}
	})
}
