package strictyaml

import (
	"strings"
	"testing"
)

type doc struct {
	Mix string `yaml:"mix"`
	SLO []struct {
		Percentile float64 `yaml:"percentile"`
	} `yaml:"slo"`
	Outer struct {
		Tokenizer string `yaml:"tokenizer"`
	} `yaml:"outer"`
}

func TestDecode(t *testing.T) {
	var d doc
	if err := Decode([]byte("# comment\nmix: chat\nslo:\n  - percentile: 95\nouter: {tokenizer: o200k_base}\n"), &d); err != nil {
		t.Fatal(err)
	}
	if d.Mix != "chat" || d.SLO[0].Percentile != 95 || d.Outer.Tokenizer != "o200k_base" {
		t.Fatalf("%+v", d)
	}
}

func TestRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"mix: a\nmixx: b\n":              `line 2: unknown key "mixx"; did you mean "mix"?`,
		"outer:\n  tokeniser: b\n":       `line 2: unknown key "tokeniser"; did you mean "tokenizer"?`,
		"mix: a\nzzzzzzzz: b\n":          `line 2: unknown key "zzzzzzzz"`,
		"mix: a\nmix: b\n":               `line 2: duplicate key "mix"`,
		"slo:\n  - percentile: secret\n": "line 2: a value of the wrong type",
		"mix: [a\n":                      "line 1: not valid YAML",
		"":                               "no YAML document",
		"mix: a\n---\nmix: b\n":          "more than one",
	} {
		var d doc
		err := Decode([]byte(in), &d)
		if err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", in, want, err)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: the error quotes a value or has several lines: %q", in, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("mix: a\nslo:\n  - percentile: 95\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d doc
		if err := Decode(data, &d); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("more than one line: %q", err)
		}
	})
}

// TestPanic turns a panic of the library into an error.
func TestPanic(t *testing.T) {
	var v struct {
		Endpoints []struct {
			Name string `yaml:"name"`
		} `yaml:"endpoints"`
	}
	if err := Decode([]byte("endpoints: !x\n"), &v); err == nil {
		t.Error("a tag without a value is taken")
	}
}

func TestLine(t *testing.T) {
	data := []byte("mix: a\nslo:\n  - percentile: 1\n    limit: 2\n  - {percentile: 3,\n     limit: 4}\nouter:\n  tokenizer: x\n")
	for _, c := range []struct {
		path []any
		want int
	}{
		{[]any{"mix"}, 1}, {[]any{"slo", 0, "limit"}, 4}, {[]any{"slo", 1, "limit"}, 6}, {[]any{"slo", 1, "none"}, 5},
		{[]any{"outer", "tokenizer"}, 8}, {[]any{"none"}, 0}, {[]any{"slo", 7}, 3}, {nil, 0},
	} {
		if got := Line(data, c.path...); got != c.want {
			t.Errorf("%v is on line %d, want %d", c.path, got, c.want)
		}
	}
	if Line([]byte("a: [")) != 0 || Line([]byte("a: ["), "a") != 0 || Line(nil, "a") != 0 {
		t.Error("a line of what is no YAML")
	}
}
