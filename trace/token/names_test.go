package token

import (
	"slices"
	"strings"
	"testing"
)

func TestForModel(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-4": "cl100k_base", "gpt-4-0314": "cl100k_base", "gpt-4-turbo-2024-04-09": "cl100k_base", "gpt-4-32k": "cl100k_base",
		"gpt-3.5-turbo": "cl100k_base", "gpt-3.5-turbo-0125": "cl100k_base", "gpt-35-turbo-16k": "cl100k_base",
		"ft:gpt-3.5-turbo-0613:acme::x": "cl100k_base", "text-embedding-3-small": "cl100k_base", "davinci-002": "cl100k_base",
		"gpt-4o": "o200k_base", "GPT-4o-mini": "o200k_base", "gpt-4o-2024-05-13": "o200k_base", "chatgpt-4o-latest": "o200k_base",
		"gpt-4.1-nano": "o200k_base", "gpt-4.5-preview": "o200k_base", "gpt-5": "o200k_base", "gpt-5.1-codex": "o200k_base",
		"gpt-5-mini": "o200k_base", "openai/gpt-oss-120b": "o200k_base", "o1": "o200k_base", "o1-preview": "o200k_base",
		"o3-mini": "o200k_base", "o4-mini-2025-04-16": "o200k_base", "ft:gpt-4o-mini:acme::x": "o200k_base",
		"": "", "gpt": "", "gpt-40": "", "o10": "", "llama-3.1-8b": "", "Qwen/Qwen3-8B": "", "claude-sonnet-4": "", "text-davinci-003": "",
	} {
		got, ok := ForModel(model)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", model, got, ok, want)
		}
		if ok && !slices.Contains(Names(), got) {
			t.Errorf("%q: there is no tokenizer %q", model, got)
		}
	}
}

func TestOpen(t *testing.T) {
	_, err := Open("p50k_base")
	if err == nil || !strings.Contains(err.Error(), "cl100k_base") || !strings.Contains(err.Error(), "o200k_base") {
		t.Errorf("an unknown name must list the known ones: %v", err)
	}
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if tok.Name() != name || len(tok.SHA256()) != 64 {
			t.Errorf("%s: name %q, sum %q", name, tok.Name(), tok.SHA256())
		}
	}
}

func TestUnpackDamaged(t *testing.T) {
	e := encodings()[0]
	if _, err := unpack(e.packed, e.size, strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("another digest: %v", err)
	}
	if _, err := unpack(e.packed, e.size-1, e.sha256); err == nil {
		t.Error("another size: no error")
	}
	if _, err := unpack(e.packed[:1000], e.size, e.sha256); err == nil {
		t.Error("truncated: no error")
	}
	if _, err := unpack(encodings()[1].packed, encodings()[1].size, e.sha256); err == nil {
		t.Error("another vocabulary: no error")
	}
}
