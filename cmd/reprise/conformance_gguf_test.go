package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// ggufTokenizer writes the tokenizer and the chat template of a GGUF model as a
// folder that --tokenizer takes. Only byte-level BPE is known here; digits are
// cut as GPT-2 has it, which no word of a prompt shows.
func ggufTokenizer(t *testing.T, model string) string {
	t.Helper()
	f, err := os.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	meta, err := readGGUF(f)
	if err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	tokens, ok1 := meta["tokenizer.ggml.tokens"].([]any)
	kinds, ok2 := meta["tokenizer.ggml.token_type"].([]any)
	merges, ok3 := meta["tokenizer.ggml.merges"].([]any)
	if !ok1 || !ok2 || !ok3 || len(kinds) != len(tokens) || meta["tokenizer.ggml.model"] != "gpt2" {
		t.Fatalf("%s: the tokenizer is no byte-level BPE", model)
	}
	vocab, added := map[string]int{}, []map[string]any{}
	for i, token := range tokens {
		vocab[token.(string)] = i
		if kinds[i] == int32(3) { // control
			added = append(added, map[string]any{"id": i, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
		}
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	data, err := json.Marshal(map[string]any{"version": "1.0", "added_tokens": added, "pre_tokenizer": level, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	template, _ := meta["tokenizer.chat_template"].(string)
	for name, text := range map[string]string{"tokenizer.json": string(data), "chat_template.jinja": template} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readGGUF reads the metadata of a GGUF file (ggml-org/ggml, docs/gguf.md),
// versions 2 and 3.
func readGGUF(f io.Reader) (map[string]any, error) {
	g := &gguf{in: bufio.NewReaderSize(f, 1<<20)}
	magic, version := fixed[uint32](g), fixed[uint32](g)
	fixed[uint64](g) // tensors
	n := fixed[uint64](g)
	if g.err != nil || magic != 0x46554747 || version < 2 || version > 3 {
		return nil, fmt.Errorf("no GGUF of version 2 or 3")
	}
	out := map[string]any{}
	for range n {
		key := g.text()
		if out[key] = g.value(fixed[uint32](g)); g.err != nil {
			return nil, g.err
		}
	}
	return out, nil
}

// gguf reads values; the first error stays.
type gguf struct {
	in  io.Reader
	err error
}

func fixed[T any](g *gguf) (v T) {
	if g.err == nil {
		g.err = binary.Read(g.in, binary.LittleEndian, &v)
	}
	return v
}

func (g *gguf) text() string {
	n := fixed[uint64](g)
	if n > 64<<20 {
		g.err = fmt.Errorf("a text of %d bytes", n)
	}
	if g.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, g.err = io.ReadFull(g.in, b)
	return string(b)
}

func (g *gguf) value(kind uint32) any {
	switch kind {
	case 0:
		return fixed[uint8](g)
	case 1:
		return fixed[int8](g)
	case 2:
		return fixed[uint16](g)
	case 3:
		return fixed[int16](g)
	case 4:
		return fixed[uint32](g)
	case 5:
		return fixed[int32](g)
	case 6:
		return fixed[float32](g)
	case 7:
		return fixed[bool](g)
	case 8:
		return g.text()
	case 9:
		return g.list(fixed[uint32](g), fixed[uint64](g))
	case 10:
		return fixed[uint64](g)
	case 11:
		return fixed[int64](g)
	case 12:
		return fixed[float64](g)
	}
	g.err = fmt.Errorf("a value of kind %d", kind)
	return nil
}

func (g *gguf) list(kind uint32, n uint64) []any {
	if n > 10<<20 {
		g.err = fmt.Errorf("a list of %d", n)
	}
	var out []any
	for range n {
		if g.err != nil {
			return nil
		}
		out = append(out, g.value(kind))
	}
	return out
}
