package openai

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// events parses a stream pushed in the pieces that cut gives.
func events(t testing.TB, stream string, cuts ...int) []string {
	t.Helper()
	var out []string
	p := &Parser{On: func(event, data []byte) { out = append(out, fmt.Sprintf("%s|%s", event, data)) }}
	from := 0
	for _, c := range append(cuts, len(stream)) {
		if err := p.Push([]byte(stream[from:c])); err != nil {
			t.Fatal(err)
		}
		from = c
	}
	return out
}

// The examples of the standard, section 9.2.6, and the traps of other clients.
func TestParser(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"two lines joined", "data: YHOO\ndata: +2\ndata: 10\n\n", []string{"|YHOO\n+2\n10"}},
		{"comments, ids, no space", ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
			[]string{"|first event", "|second event", "| third event"}},
		{"empty data", "data\n\ndata\ndata\n\ndata:", []string{"|", "|\n"}},
		{"one space only", "data:test\n\ndata: test\n\n", []string{"|test", "|test"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed ends", "data: a\r\ndata: b\n\r\ndata: c\r\n\n", []string{"|a\nb", "|c"}},
		{"BOM", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"BOM later is a field", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"|a"}},
		{"event field", "event: error\ndata: {}\n\ndata: x\n\n", []string{"error|{}", "|x"}},
		{"event without data", "event: error\n\ndata: x\n\n", []string{"|x"}},
		{"ping chunk", ": ping\n\ndata: x\n\n", []string{"|x"}},
		{"ping between lines", "data: x\n: ping\ndata: y\n\n", []string{"|x\ny"}},
		{"retry and unknown", "retry: 10\nfoo: bar\ndatum: z\ndata: x\n\n", []string{"|x"}},
		{"no blank line at the end", "data: a\n\ndata: [DONE]\n", []string{"|a"}},
		{"blank lines alone", "\n\n\r\n\r\r", nil},
	} {
		for _, cuts := range append([][]int{nil}, everyCut(c.stream)...) {
			if got := events(t, c.stream, cuts...); !slices.Equal(got, c.want) {
				t.Errorf("%s cut at %v: %q, want %q", c.name, cuts, got, c.want)
			}
		}
	}
}

// everyCut gives every single cut, and the cut into bytes.
func everyCut(s string) [][]int {
	var out [][]int
	var all []int
	for i := range len(s) {
		out, all = append(out, []int{i}), append(all, i)
	}
	return append(out, all)
}

// naive reads a whole stream at once, as the standard is written.
func naive(s string) []string {
	s = strings.TrimPrefix(s, "\xef\xbb\xbf")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(s, "\n")
	var out []string
	event, data, has := "", "", false
	for _, l := range lines[:len(lines)-1] {
		if l == "" {
			if has {
				out = append(out, event+"|"+strings.TrimSuffix(data, "\n"))
			}
			event, data, has = "", "", false
			continue
		}
		field, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data, has = data+value+"\n", true
		case "event":
			event = value
		}
	}
	return out
}

// Any bytes cut anywhere give the events of the standard.
func FuzzParser(f *testing.F) {
	f.Add("data: {\"a\":1}\r\n\r\n: ping\n\ndata:b\rdata: c\n\n", uint16(3), uint16(9))
	f.Add("\xef\xbb\xbfevent: error\ndata\n\n", uint16(1), uint16(2))
	f.Fuzz(func(t *testing.T, stream string, a, b uint16) {
		cuts := []int{int(a) % (len(stream) + 1), int(b) % (len(stream) + 1)}
		slices.Sort(cuts)
		want := naive(stream)
		if got := events(t, stream); !slices.Equal(got, want) {
			t.Fatalf("in one piece: %q, want %q", got, want)
		}
		if got := events(t, stream, cuts...); !slices.Equal(got, want) {
			t.Fatalf("cut at %v: %q, want %q", cuts, got, want)
		}
		if cuts := everyCut(stream); !slices.Equal(events(t, stream, cuts[len(cuts)-1]...), want) {
			t.Fatalf("byte by byte differs")
		}
	})
}

func TestRest(t *testing.T) {
	for stream, want := range map[string]string{
		"data: a\n\ndata: [DONE]\n": "[DONE]", "data: a\n\ndata: [DONE]": "[DONE]", "data: a\n\n": "", "data: x\ndata:y": "x\ny", ": pi": "",
	} {
		p := &Parser{On: func(_, _ []byte) {}}
		p.Push([]byte(stream))
		if got, pending := p.Rest(); string(got) != want || pending != (want != "") {
			t.Errorf("%q leaves %q, %v", stream, got, pending)
		}
	}
}

func TestEventTooLarge(t *testing.T) {
	p := &Parser{On: func(_, _ []byte) {}}
	chunk := []byte("data: " + strings.Repeat("x", 1<<20) + "\n")
	for range 17 {
		if p.Push(chunk) != nil {
			return
		}
	}
	t.Fatal("an event of 17 MiB was taken")
}
