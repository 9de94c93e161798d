package token

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/trace/token/class"
)

// maxTokenizerFile bounds the size of a tokenizer file; the largest published
// ones have 35 MB.
const maxTokenizerFile = 256 << 20

// errNoFile is the error of a path at which there is nothing.
var errNoFile = errors.New("no such file or folder")

// openFile opens a tokenizer file, or the folder that holds one: a tokenizer.json
// of HuggingFace, a tekken.json of Mistral, or ranks in the format of tiktoken,
// whose pattern may follow the path after a colon.
//
// Ids are those of huggingface/tokenizers' encode without special tokens added
// (added tokens that stand in the text are found, as served models do), of
// mistral-common's encode of plain text, and of tiktoken's encode_ordinary.
func openFile(path string) (*Tokenizer, error) {
	t, err := openTokenizerFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return t, nil
}

func openTokenizerFile(path string) (*Tokenizer, error) {
	file, pattern, err := findTokenizerFile(path)
	if err != nil {
		return nil, err
	}
	data, err := readBounded(file, maxTokenizerFile)
	if err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, err
	}
	sum := sha256.Sum256(data)
	t := &Tokenizer{name: path, sha: hex.EncodeToString(sum[:])}
	classes, err := class.Load()
	if err != nil {
		return nil, err
	}
	if pattern != "" && !looksLikeRanks(data) {
		return nil, fmt.Errorf("the pattern %q is for files of ranks only", pattern)
	}
	switch {
	case looksLikeRanks(data):
		var p rankPattern
		if p, err = rankPatternFor(file, pattern, t.sha); err != nil {
			return nil, err
		}
		t.enc, t.notes, err = newTiktoken(data, p, classes)
	case isTekken(data):
		t.enc, t.notes, err = newTekken(data, classes)
	case (&jsonReader{data: data}).peek() == '{':
		t.enc, t.notes, err = newHF(data, classes)
	default:
		err = errors.New("neither JSON nor ranks: a SentencePiece model needs its tokenizer.json")
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// isTekken tells a tekken.json by its first keys.
func isTekken(data []byte) bool {
	r := &jsonReader{data: data}
	errFound := errors.New("found")
	return errFound == r.object(func(key []byte) error {
		if string(key) == "config" {
			return errFound
		}
		_, err := r.skip()
		return err
	})
}

// findTokenizerFile takes a path apart into a file and the name of a pattern; of
// a folder it takes the one tokenizer that it holds.
func findTokenizerFile(path string) (file, pattern string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		i := strings.LastIndexByte(path, ':')
		if i < 0 {
			return "", "", errNoFile
		}
		path, pattern = path[:i], path[i+1:]
		if info, err = os.Stat(path); err != nil {
			return "", "", errNoFile
		}
	}
	if !info.IsDir() {
		return path, pattern, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", "", errors.New("the folder cannot be read")
	}
	var names, ranks []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.HasSuffix(e.Name(), ".tiktoken") {
			ranks = append(ranks, e.Name())
		}
	}
	for _, name := range []string{"tokenizer.json", "tekken.json", "tiktoken.model"} {
		if slices.Contains(names, name) {
			return filepath.Join(path, name), pattern, nil
		}
	}
	if len(ranks) == 1 {
		return filepath.Join(path, ranks[0]), pattern, nil
	}
	return "", "", errors.New("the folder holds no tokenizer.json, tekken.json, tiktoken.model or single .tiktoken file")
}
