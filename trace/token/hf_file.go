package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bounds on what a file may ask for; published ones stay below a tenth of each.
const (
	maxTokenID    = 1<<22 - 2 // ids, and number of tokens
	maxMerges     = 1 << 22
	maxAddedBytes = 4 << 20 // of all added tokens together
	maxRankToken  = 1024    // bytes of a token in a file of ranks
	maxGrowth     = 64      // by which normalizers may lengthen text
	maxSteps      = 64      // of a pre-tokenizer
)

// hfFile is a tokenizer.json in parts. The two that are large stay bytes of the
// file.
type hfFile struct {
	normalizer, preTokenizer []byte // null or absent: empty
	truncation               []byte
	added                    []addedToken
	model                    hfModel
	vocab, merges            []byte
}

// hfModel holds the settings of a model of type BPE.
type hfModel struct {
	Type         string   `json:"type"`
	Dropout      *float64 `json:"dropout"`
	UnkToken     *string  `json:"unk_token"`
	Prefix       *string  `json:"continuing_subword_prefix"`
	Suffix       *string  `json:"end_of_word_suffix"`
	FuseUnk      bool     `json:"fuse_unk"`
	ByteFallback bool     `json:"byte_fallback"`
	IgnoreMerges bool     `json:"ignore_merges"`
}

// errNeeds is the error of a file that asks for what is not here.
func errNeeds(feature string) error {
	return fmt.Errorf("needs %s, which this version does not have", feature)
}

// readHF takes a tokenizer.json apart and checks the settings of its model.
func readHF(data []byte) (*hfFile, error) {
	f := new(hfFile)
	r := &jsonReader{data: data}
	var added []byte
	seen := map[string]bool{}
	err := r.object(func(key []byte) error {
		if seen[string(key)] {
			return fmt.Errorf("key %q stands twice", key)
		}
		seen[string(key)] = true
		if string(key) == "model" {
			return f.readModel(r)
		}
		raw, err := r.skip()
		if string(raw) == "null" {
			raw = nil
		}
		switch string(key) {
		case "normalizer":
			f.normalizer = raw
		case "pre_tokenizer":
			f.preTokenizer = raw
		case "truncation":
			f.truncation = raw
		case "added_tokens":
			added = raw
		case "version", "padding", "post_processor", "decoder":
			// No part of how text becomes ids when special tokens are not added.
		default:
			return errNeeds(fmt.Sprintf("a reader of key %.40q", key))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.peek() != 0 || r.at < len(data) {
		return nil, r.errorf("data after the end of the value")
	}
	if !seen["model"] {
		return nil, errors.New("has no key \"model\": not a tokenizer.json")
	}
	if added != nil {
		if err := strictUnmarshal(added, &f.added); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", err)
		}
		size := 0
		for _, t := range f.added {
			size += len(t.Content)
		}
		if size > maxAddedBytes {
			return nil, fmt.Errorf("added_tokens: %d bytes, over the %d that are read", size, maxAddedBytes)
		}
	}
	return f, f.check()
}

// readModel takes the model apart: its settings are decoded as one object
// without the two large parts.
func (f *hfFile) readModel(r *jsonReader) error {
	settings := []byte{'{'}
	seen := map[string]bool{}
	err := r.object(func(key []byte) error {
		name := string(key)
		if seen[name] {
			return fmt.Errorf("model: key %q stands twice", name)
		}
		seen[name] = true
		raw, err := r.skip()
		if err != nil {
			return err
		}
		switch name {
		case "vocab":
			f.vocab = raw
		case "merges":
			f.merges = raw
		default:
			if len(settings) > 1 {
				settings = append(settings, ',')
			}
			quoted, _ := json.Marshal(name)
			settings = append(append(append(settings, quoted...), ':'), raw...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	settings = append(settings, '}')
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(settings, &kind); err != nil {
		return errors.New("model: its settings are not valid JSON of a known shape")
	}
	if kind.Type != "" && kind.Type != "BPE" {
		return errNeeds(fmt.Sprintf("a model of type %.40s", kind.Type))
	}
	if f.vocab == nil || f.merges == nil {
		return errors.New("model: has no vocab or no merges: not a byte-pair model")
	}
	if err := strictUnmarshal(settings, &f.model); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// check refuses settings under which ids would come out otherwise than here.
func (f *hfFile) check() error {
	m := f.model
	set := func(s *string) bool { return s != nil && *s != "" }
	switch {
	case m.Dropout != nil && *m.Dropout != 0:
		return errNeeds("a model with dropout (ids at random)")
	case set(m.Prefix):
		return errNeeds("continuing_subword_prefix in a byte-pair model")
	case set(m.Suffix):
		return errNeeds("end_of_word_suffix in a byte-pair model")
	}
	return nil
}

// strictUnmarshal decodes raw and refuses keys that v has no field for; its error
// names the key and quotes nothing else of the file.
func strictUnmarshal(raw []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return fmt.Errorf("key %q holds a value of the wrong type", wrong.Field)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return errNeeds("a reader of key " + strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return errors.New("not valid JSON")
}
