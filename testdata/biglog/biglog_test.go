package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Lines are JSON, of about the size that is promised, and the same for a seed;
// most of a later prompt was in an earlier one.
func TestLines(t *testing.T) {
	var a, b bytes.Buffer
	rows, err := jsonl(&a, 7, 30<<20)
	if _, again := jsonl(&b, 7, 30<<20); err != nil || again != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal(err, again)
	}
	if mean := int64(a.Len()) / rows; mean < 3000 || mean > 4200 {
		t.Errorf("%d bytes a row", mean)
	}
	last := map[string]string{}
	var chars, shared int
	for line := range strings.Lines(a.String()) {
		var row struct {
			Session string `json:"session_id"`
			Request struct {
				Messages []struct{ Role, Content string }
			}
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, m := range row.Request.Messages {
			text.WriteString(m.Role + m.Content)
		}
		if chars += text.Len(); last[row.Session] != "" && strings.HasPrefix(text.String(), last[row.Session]) {
			shared += len(last[row.Session])
		}
		last[row.Session] = text.String()
	}
	if share := float64(shared) / float64(chars); share < 0.3 || share > 0.8 {
		t.Errorf("%.2f of the prompts is their sessions' history", share)
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{"10GB": 1e10, "1.5MB": 1_500_000, "7": 7, "3B": 3} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "GB", "-1MB", "x"} {
		if _, err := parseSize(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}
