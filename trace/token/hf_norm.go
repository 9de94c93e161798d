package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/trace/token/form"
)

// normalizer changes a text before it is cut; nil changes nothing. It keeps text
// valid UTF-8.
type normalizer func(text string) string

// kindOf returns the key "type" of a part of a tokenizer.json.
func kindOf(raw []byte) (string, error) {
	var k struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &k); err != nil || k.Type == "" {
		return "", errors.New("want an object with a type")
	}
	return k.Type, nil
}

// textPattern is a pattern as HuggingFace writes it: one of a plain string and a
// regular expression.
type textPattern struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// newNormalizer reads a normalizer of a tokenizer.json.
func newNormalizer(raw []byte) (normalizer, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	kind, err := kindOf(raw)
	if err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	switch kind {
	case "Sequence":
		return normalizerSequence(raw)
	case "NFC", "NFD", "NFKC", "NFKD":
		return form.New(strings.HasSuffix(kind, "C"), strings.Contains(kind, "K"), true).Apply, nil
	case "Prepend":
		var p struct {
			Type    string `json:"type"`
			Prepend string `json:"prepend"`
		}
		if err := strictUnmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("normalizer Prepend: %w", err)
		}
		return func(text string) string {
			if text == "" {
				return ""
			}
			return p.Prepend + text
		}, nil
	case "Replace":
		return replaceNormalizer(raw)
	case "Strip":
		return stripNormalizer(raw)
	}
	return nil, errNeeds(fmt.Sprintf("the normalizer %.40s", kind))
}

func normalizerSequence(raw []byte) (normalizer, error) {
	var s struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if err := strictUnmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("normalizer Sequence: %w", err)
	}
	var all []normalizer
	for _, part := range s.Normalizers {
		n, err := newNormalizer(part)
		if err != nil {
			return nil, err
		}
		if n != nil {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return func(text string) string {
		for _, n := range all {
			text = n(text)
		}
		return text
	}, nil
}

func replaceNormalizer(raw []byte) (normalizer, error) {
	var p struct {
		Type    string      `json:"type"`
		Pattern textPattern `json:"pattern"`
		Content string      `json:"content"`
	}
	if err := strictUnmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("normalizer Replace: %w", err)
	}
	if p.Pattern.String == nil || *p.Pattern.String == "" {
		return nil, errNeeds("a Replace normalizer by a regular expression")
	}
	return func(text string) string { return strings.ReplaceAll(text, *p.Pattern.String, p.Content) }, nil
}

func stripNormalizer(raw []byte) (normalizer, error) {
	var p struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}
	if err := strictUnmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("normalizer Strip: %w", err)
	}
	return func(text string) string {
		if p.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if p.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}, nil
}

// normConfig holds what a look at a normalizer without building it needs.
type normConfig struct {
	Type        string            `json:"type"`
	Prepend     string            `json:"prepend"`
	Pattern     textPattern       `json:"pattern"`
	Content     string            `json:"content"`
	Normalizers []json.RawMessage `json:"normalizers"`
}

// growth returns by what factor a normalizer may lengthen text, so that a file
// cannot ask for more memory than there is.
func growth(raw []byte) int {
	var n normConfig
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return 1
	}
	f := 1 + len(n.Prepend)
	if n.Type == "Replace" && n.Pattern.String != nil {
		f = max(1, len(n.Content)/max(1, len(*n.Pattern.String)))
	}
	for _, part := range n.Normalizers {
		f = min(f*growth(part), maxGrowth+1)
	}
	return min(f, maxGrowth+1)
}

// movesStart tells whether a normalizer can take away or lengthen the first
// characters: the reference then no longer takes the start of the text as such.
func movesStart(raw []byte) bool {
	var n normConfig
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return false
	}
	switch n.Type {
	case "Strip":
		return true
	case "Replace":
		return n.Pattern.String == nil || utf8.RuneCountInString(*n.Pattern.String) != 1 || utf8.RuneCountInString(n.Content) != 1
	}
	return slices.ContainsFunc(n.Normalizers, func(part json.RawMessage) bool { return movesStart(part) })
}
