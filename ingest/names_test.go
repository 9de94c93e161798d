package ingest

import (
	"strings"
	"testing"
)

func TestLooksLikeName(t *testing.T) {
	for _, s := range []string{"Latency (ms)", "Cost ($)", "größer", "入力トークン", "input_tokens", "gen_ai.usage.input_tokens", "% cached",
		"TemperatureCelsius°", "user/id", "enableStructuredOutputStreaming", "k8s", "2xx"[1:]} {
		if !looksLikeName(s) {
			t.Errorf("%q is a name", s)
		}
	}
	for _, s := range []string{"", "jane.doe@corp.com", "My social security number is 123-45-6789", "sk-abcdefghijklmnopqrstuvwx", "12ab",
		"a,b", "acct_40817810", "what?", "line\nbreak"} {
		if looksLikeName(s) {
			t.Errorf("%q may be a value", s)
		}
	}
	for path, want := range map[string]bool{"meta.*": true, "^.a.0.b": true, "meta.jane doe@x": false, "meta.49152.x": false} {
		if showable(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}

// A header with one odd cell hides that cell alone; a first row that is none is
// not shown.
func TestColumnsSeen(t *testing.T) {
	for text, want := range map[string]string{
		"when,Latency (ms),Cost ($),größer\nx,1,2,3\n":        "columns seen: Cost ($), Latency (ms), größer, when; ",
		"when,jane@corp.com,took\nx,1,2\n":                    "columns seen: took, when, and 1 that are not listed; ",
		"{\"jane@corp.com\":1}\n{\"jane@corp.com\":1}\n":      "columns seen: 1 whose names may be values and are not shown; ",
		"AcmeMerger,Passwort\n":                               "columns seen: none that are names",
		"AcmeMerger,Passwort\nProject Falcon,also a secret\n": "columns seen: none that are names",
		"hello my secret is AcmeMerger\nfoo\n":                "columns seen: none that are names",
	} {
		_, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Keys that may be values are counted and not named.
func TestUnmappedHides(t *testing.T) {
	text := `{"timestamp":"2026-03-02T14:05:11Z","input_tokens":3,"output_tokens":4,"colour":1,"jane.doe@corp.com":2,"sk-abcdefghijklmnopqrstuvwxyz":3}`
	l, _, _, err := fromText(t, text, nil)
	if err != nil || strings.Join(l.Unmapped(), " ") != "colour" || l.UnmappedHidden() != 2 {
		t.Error(err, l.Unmapped(), l.UnmappedHidden())
	}
}

// Excel's line with the separator, and the line ends of old Macs.
func TestExcelCSV(t *testing.T) {
	rows := "timestamp;input_tokens;output_tokens;prompt\n2026-03-02T14:05:11Z;1;4;a,b,c,d,e,f\n2026-03-02T14:05:12Z;2;4;\"x\ny\"\n"
	for what, text := range map[string]string{
		"separator": "sep=;\n" + rows, "Windows": "\ufeffSEP=;\r\n" + strings.ReplaceAll(rows, "\n", "\r\n"),
		"quoted": "\"sep=;\"\n" + rows, "old Mac": strings.ReplaceAll(rows, "\n", "\r"), "both": strings.ReplaceAll("sep=;\n"+rows, "\n", "\r"),
		"against the header": "sep=;\n" + strings.Replace(rows, "prompt", "prompt,,,,,", 1),
	} {
		recs := rowsOf(t, what, text, 2)
		if what != "against the header" && (recs[0].Prompt != "a,b,c,d,e,f" || strings.Trim(recs[1].Prompt, "xy\r\n") != "") {
			t.Errorf("%s: %q %q", what, recs[0].Prompt, recs[1].Prompt)
		}
	}
}

// The columns of a table without a header go by number.
func TestHeaderless(t *testing.T) {
	text := "2026-03-02T14:05:11Z,1,4\n2026-03-02T14:05:12Z,2,4\n"
	_, recs, bad, err := fromText(t, text, mapOf(t, "arrival=#1", "input_tokens=#2", "output_tokens=#3"))
	if err != nil || len(recs) != 2 || len(bad) != 0 || recs[1].InputTokens.V != 2 {
		t.Error(len(recs), bad, err)
	}
	_, err = Open(t.Context(), Inputs{Stdin: strings.NewReader(text), Map: mapOf(t, "arrival=0")})
	if err == nil || !strings.Contains(err.Error(), "--map arrival=#1") || !strings.Contains(err.Error(), "#1 to #3") {
		t.Error(err)
	}
}
