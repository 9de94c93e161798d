package token

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/trace/token/class"
	"reprise/trace/token/form"
)

// rankPattern is a name by which a user says how the text of a rank file is cut;
// the file itself holds tokens only.
type rankPattern struct {
	name, pattern string
	nfc           bool     // the model's own code normalizes first
	sha256        []string // of files that are known to go with it
	codes         []string // names in the model's configuration that tell it
}

func rankPatterns() []rankPattern {
	return []rankPattern{
		{name: "cl100k", pattern: patternCL100K,
			sha256: []string{"223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"}},
		{name: "gpt2", pattern: patternGPT2,
			sha256: []string{"306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"}},
		{name: "kimi", pattern: patternKimi, codes: []string{"tokenization_kimi"}},
		{name: "llama3", pattern: patternCL100K},
		{name: "o200k", pattern: patternO200K,
			sha256: []string{"446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"}},
		{name: "qwen", pattern: patternQwen2, nfc: true, codes: []string{"tokenization_qwen", "QWenTokenizer"}},
		{name: "qwen3.5", pattern: patternQwen35, nfc: true},
	}
}

// rankPatternFor returns the pattern for a rank file: the named one, else that of
// a file with this digest, else the one that the configuration beside it names.
func rankPatternFor(path, name, sha string) (rankPattern, error) {
	all := rankPatterns()
	var names []string
	for _, p := range all {
		names = append(names, p.name)
		if p.name == name || name == "" && slices.Contains(p.sha256, sha) {
			return p, nil
		}
	}
	if name != "" {
		return rankPattern{}, fmt.Errorf("no pattern %q: one of %s", name, strings.Join(names, ", "))
	}
	if config, err := readBounded(filepath.Join(filepath.Dir(path), "tokenizer_config.json"), 4<<20); err == nil {
		for _, p := range all {
			for _, code := range p.codes {
				if bytes.Contains(config, []byte(code)) {
					return p, nil
				}
			}
		}
	}
	return rankPattern{}, fmt.Errorf("a file of ranks does not say how text is cut: name the pattern after the path, as in %s:kimi; one of %s",
		filepath.Base(path), strings.Join(names, ", "))
}

// newTiktoken reads lines "base64 rank".
func newTiktoken(data []byte, p rankPattern, classes *class.Table) (encoder, []string, error) {
	list := newRankList(min(bytes.Count(data, []byte{'\n'})+1, 1<<19), min(len(data)/2, 8<<20))
	var token []byte
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		coded, number, _ := bytes.Cut(line, []byte{' '})
		var err error
		if token, err = base64.StdEncoding.AppendDecode(token[:0], coded); err != nil {
			return nil, nil, fmt.Errorf("line %d: want a token in base64 and its rank", n)
		}
		rank, err := strconv.Atoi(string(number))
		if err != nil || rank < 0 || rank > maxTokenID {
			return nil, nil, fmt.Errorf("line %d: want a token in base64 and its rank", n)
		}
		if err := list.add(token, rank); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	enc, notes, err := rankEncoder(list, p.pattern, classes)
	if err == nil && p.nfc {
		enc = &normEncoder{form.New(true, false, false).Apply, enc}
	}
	return enc, notes, err
}

// looksLikeRanks tells whether data begins with a line of a rank file.
func looksLikeRanks(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte{'\n'})
	coded, number, ok := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
	if !ok {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(string(coded))
	_, err2 := strconv.Atoi(string(number))
	return err == nil && err2 == nil
}

// readBounded reads a file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d MB, over the %d MB that are read", path, info.Size()>>20, limit>>20)
	}
	return os.ReadFile(path)
}
