package loglines

import (
	"strings"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// A line over the limit is one bad row; what is no line of a kind is none.
func TestLineTooLong(t *testing.T) {
	set, err := Compile([]Kind{{Name: "call", Match: "^call"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	text := "banner\ncall " + strings.Repeat("It's long. ", 1<<10) + "\ntail\n"
	r := Open(&source.Source{Name: "x"}, strings.NewReader(text), set)
	r.lines = textfile.NewLines(strings.NewReader(text), 1<<10)
	for _, want := range []string{" item 0: line_too_long: " + rows.TooLong().Detail, "EOF"} {
		if _, err := r.Next(); err.Error() != want {
			t.Fatalf("%v, want %s", err, want)
		}
	}
	if r.Others() != 2 {
		t.Fatalf("%d other lines", r.Others())
	}
}

// The time of a line without a year goes on in January.
func TestYearless(t *testing.T) {
	var y yearless
	last := ""
	for _, s := range []string{"12-30 23:59:59", "12-31 23:59:59", "01-01 00:00:00", "01-01 00:00:01", "12-31 00:00:00", "01-01 00:00:00"} {
		got, ok := y.format("01-02 15:04:05", s)
		if !ok || len(got) < len(last) || (len(got) == len(last) && got <= last) {
			t.Fatalf("%s gives %s after %s", s, got, last)
		}
		last = got
	}
	for in, want := range map[string]string{"2026/03/02 - 14:05:12": "2026-03-02T14:05:12", "2026/03/02 - 14:05:12.25": "2026-03-02T14:05:12.25"} {
		if got, ok := y.format("2006/01/02 - 15:04:05", in); !ok || got != want {
			t.Errorf("%s gives %s", in, got)
		}
	}
	if _, ok := y.format("01-02 15:04:05", "02-30 00:00:00"); ok {
		t.Error("30 February is read")
	}
}

// TestPrefixedLines takes off what docker compose and journalctl put before a
// line, and nothing else.
func TestPrefixedLines(t *testing.T) {
	for in, want := range map[string]string{
		"vllm-1  | INFO 07-21 15:38:02 x":            "INFO 07-21 15:38:02 x",
		"Jul 25 14:05:11 host vllm[123]: INFO 07-21": "INFO 07-21",
		"INFO a | b":                                     "INFO a | b",
		"a line with words | and a bar":                  "a line with words | and a bar",
		"Jul 25 14:05:11 host kernel: no process number": "Jul 25 14:05:11 host kernel: no process number",
	} {
		if got := string(bare([]byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
