package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"reprise/replay"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what is rendered with a kept file.
func golden(t *testing.T, name string, render func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs; look at the difference and run go test -update\n%s", file, b.Bytes())
	}
	return b.Bytes()
}

// small is a made result set: 240 answers with TTFT 1…240 ms, one with a 429.
func small(t *testing.T) *Report {
	run := testRun(slo("ttft", 95, 300), slo("tpot", 99, 25))
	run.Notes = []string{"The server's prefix cache could not be emptied before the run."}
	over := failed(24_000, replay.HTTP429)
	over.RetryAfterMS = some64(1500)
	return build(t, Input{Run: run, Results: seq(append(ramp(240), over)), Health: []replay.HealthRow{{KernelP99US: 80, HeartP99US: 60, CPU: 0.25, Throttled: -1, Steal: -1}}})
}

func TestGoldenText(t *testing.T) { golden(t, "small.txt", small(t).Text) }

func TestGoldenMarkdown(t *testing.T) { golden(t, "small.md", small(t).Markdown) }

func TestMarkdownEscapesWhatComesFromOutside(t *testing.T) {
	evil := "a|b`<img src=x>[x](http://e)*_#\n# head"
	run := testRun(slo("ttft", 95, 300))
	run.Region, run.Notes, run.Endpoint.Model = evil, []string{evil}, evil
	var b bytes.Buffer
	if err := build(t, Input{Run: run, Results: seq(ramp(240)), Label: evil}, Input{Run: run, Results: seq(ramp(240)), Label: evil + "2"}).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile("<img|\n# head|[^\\\\][`\\[]").FindString(b.String()); bad != "" {
		t.Errorf("the page holds %q", bad)
	}
	columns := 0
	for line := range strings.Lines(b.String()) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d columns after %d: %s", n, columns, line)
		}
		columns = n
	}
}

func TestGoldenJSON(t *testing.T) {
	var back Report
	if err := json.Unmarshal(golden(t, "small.json", small(t).JSON), &back); err != nil {
		t.Fatal(err)
	}
	if back.Kind != "reprise.report" || back.Version != 1 || back.Exit != 4 {
		t.Errorf("kind %q version %d exit %d", back.Kind, back.Version, back.Exit)
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	run := testRun(slo("ttft", 95, 300), slo("tpot", 99, 25), slo("itl", 99, 50), slo("e2e", 99.9, 5000))
	run.Endpoint.Model = strings.Repeat("model", 60) + "\x1b[31m\r\n\u202e"
	run.Notes = []string{strings.Repeat("long words and more ", 30)}
	in := Input{Run: run, Results: seq(random(rng, 400)), Label: strings.Repeat("wide ", 40)}
	for _, r := range []*Report{build(t, in), build(t, in, in), build(t, in, in, in, in, in)} {
		whole := numbersOf(textIn(t, r, 400))
		for _, width := range []int{80, TextWidth, 120} {
			got := textIn(t, r, width)
			for line := range strings.Lines(got) {
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width {
					t.Errorf("%d columns, want %d: %s", utf8.RuneCountInString(line), width, line)
				}
				if strings.ContainsAny(line, "\x1b\r\u202e") {
					t.Errorf("a control character is let through: %q", line)
				}
			}
			if n := numbersOf(got); !slices.Equal(n, whole) {
				t.Errorf("in %d columns a number was cut: %d numbers of %d", width, len(n), len(whole))
			}
		}
	}
}

func textIn(t *testing.T, r *Report, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.TextIn(&b, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// numbersOf are the words that are numbers, sorted.
func numbersOf(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if regexp.MustCompile(`^[+±(]*[0-9][0-9,.]*[0-9][,.;)]*$`).MatchString(w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}
