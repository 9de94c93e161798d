package token

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/trace/token/class"
	"reprise/trace/token/regex"
)

// cutPiece is a part of a text; first tells that it begins where the text does.
type cutPiece struct {
	text  string
	first bool
}

// stage is one step of a pre-tokenizer: it appends the parts of a piece to dst.
type stage func(dst []cutPiece, piece cutPiece) []cutPiece

// preTokenizer cuts text into the pieces that a model encodes each by itself.
type preTokenizer struct {
	byteLevel bool    // pieces reach the model in the byte alphabet
	stages    []stage // one after the other
	scan      scanner // then this; nil: each piece whole
	masks     *maskRules
	first     bool // a stage asks where the text begins
	notes     []string
}

// preConfig holds the keys of all kinds of pre-tokenizers that are known.
type preConfig struct {
	Type           string            `json:"type"`
	Pretokenizers  []json.RawMessage `json:"pretokenizers"`
	Pattern        textPattern       `json:"pattern"`
	Behavior       string            `json:"behavior"`
	Invert         bool              `json:"invert"`
	AddPrefixSpace *bool             `json:"add_prefix_space"`
	TrimOffsets    bool              `json:"trim_offsets"` // of places in the text, not of ids
	UseRegex       *bool             `json:"use_regex"`
	Individual     bool              `json:"individual_digits"`
	Replacement    string            `json:"replacement"`
	StrRep         string            `json:"str_rep"` // the replacement again, in old files
	PrependScheme  string            `json:"prepend_scheme"`
	Split          *bool             `json:"split"`
}

// newPreTokenizer reads the pre-tokenizer of a tokenizer.json.
func newPreTokenizer(raw []byte, classes *class.Table) (*preTokenizer, error) {
	configs, err := flatten(nil, raw, 0)
	if err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if len(configs) > maxSteps {
		return nil, errNeeds("a pre-tokenizer of as many steps")
	}
	p := new(preTokenizer)
	if len(configs) == 4 && isDeepSeek(configs[:3]) {
		set, err := newSymbolSet(symbols16)
		if err != nil {
			return nil, err
		}
		p.scan = deepSeek{classes, set}.split
		configs = configs[3:]
	}
	for _, c := range configs {
		if p.byteLevel {
			return nil, errNeeds(fmt.Sprintf("the pre-tokenizer %.40s after ByteLevel", c.Type))
		}
		if err := p.add(c, classes); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// flatten appends the configuration, sequences taken apart.
func flatten(dst []preConfig, raw []byte, depth int) ([]preConfig, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return dst, nil
	}
	var c preConfig
	if err := strictUnmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Type != "Sequence" {
		return append(dst, c), nil
	}
	for _, part := range c.Pretokenizers {
		var err error
		if dst, err = flatten(dst, part, depth+1); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func isDeepSeek(c []preConfig) bool {
	for i, want := range []string{patternDeepSeek1, patternDeepSeek2, patternDeepSeek3} {
		if c[i].Type != "Split" || c[i].Pattern.Regex == nil || *c[i].Pattern.Regex != want ||
			c[i].Behavior != "Isolated" {
			return false
		}
	}
	return true
}

// add appends a step.
func (p *preTokenizer) add(c preConfig, classes *class.Table) error {
	if c.Type != "ByteLevel" {
		p.settle(classes)
	}
	switch c.Type {
	case "ByteLevel":
		p.addByteLevel(c, classes)
		return nil
	case "Split":
		return p.addSplit(c, classes)
	case "Digits":
		behavior := "Contiguous"
		if c.Individual {
			behavior = "Isolated"
		}
		match := func(dst []span, text string) []span { return digitSpans(dst, classes, text) }
		p.stages = append(p.stages, splitStage(match, behavior, false))
		return nil
	case "Metaspace":
		return p.addMetaspace(c)
	}
	return errNeeds(fmt.Sprintf("the pre-tokenizer %.40s", c.Type))
}

func (p *preTokenizer) addByteLevel(c preConfig, classes *class.Table) {
	p.byteLevel = true
	if c.AddPrefixSpace == nil || *c.AddPrefixSpace {
		p.settle(classes)
		p.stages = append(p.stages, func(dst []cutPiece, piece cutPiece) []cutPiece {
			if !strings.HasPrefix(piece.text, " ") {
				piece.text = " " + piece.text
			}
			return append(dst, piece)
		})
	}
	if c.UseRegex == nil || *c.UseRegex {
		p.settle(classes)
		p.scan = splitGPT2
	}
}

// settle makes a scan, which must come last, a stage among others.
func (p *preTokenizer) settle(classes *class.Table) {
	if scan := p.scan; scan != nil {
		p.stages = append(p.stages, func(dst []cutPiece, piece cutPiece) []cutPiece {
			for i := 0; i < len(piece.text); {
				end := scan(classes, piece.text, i)
				dst = append(dst, piece.sub(span{i, end}))
				i = end
			}
			return dst
		})
		p.scan, p.masks = nil, nil
	}
}

func (p *preTokenizer) addSplit(c preConfig, classes *class.Table) error {
	if !slices.Contains([]string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}, c.Behavior) {
		return errNeeds(fmt.Sprintf("the split behavior %.40s", c.Behavior))
	}
	if c.Pattern.String != nil {
		if *c.Pattern.String == "" {
			return errNeeds("a Split by the empty string")
		}
		sep := *c.Pattern.String
		match := func(dst []span, text string) []span { return stringSpans(dst, sep, text) }
		p.stages = append(p.stages, splitStage(match, c.Behavior, c.Invert))
		return nil
	}
	if c.Pattern.Regex == nil {
		return errNeeds("a Split without a pattern")
	}
	// A known expression leaves no gaps: each match is a piece.
	if scan, ok := knownPattern(*c.Pattern.Regex); ok &&
		(c.Behavior == "Isolated" || c.Behavior == "Removed" && c.Invert) {
		p.scan, p.masks = scan, knownMasks(*c.Pattern.Regex)
		return nil
	}
	re, err := regex.Compile(*c.Pattern.Regex, classes)
	if err != nil {
		return fmt.Errorf("pattern of a Split: %w", err)
	}
	p.notes = append(p.notes, re.Note())
	match := func(dst []span, text string) []span { return patternSpans(dst, re, text) }
	p.stages = append(p.stages, splitStage(match, c.Behavior, c.Invert))
	return nil
}

// addMetaspace writes spaces as c.Replacement and begins a piece at each.
func (p *preTokenizer) addMetaspace(c preConfig) error {
	scheme := c.PrependScheme
	if scheme == "" {
		scheme = "always"
		if c.AddPrefixSpace != nil && !*c.AddPrefixSpace {
			scheme = "never"
		}
	}
	if !slices.Contains([]string{"always", "first", "never"}, scheme) {
		return errNeeds(fmt.Sprintf("the Metaspace prepend_scheme %.40s", scheme))
	}
	rep := c.Replacement
	if len([]rune(rep)) != 1 || c.StrRep != "" && c.StrRep != rep {
		return errNeeds("a Metaspace replacement of other than one character")
	}
	match := func(dst []span, text string) []span { return stringSpans(dst, rep, text) }
	parts := splitStage(match, "MergedWithNext", false)
	p.first = p.first || scheme == "first"
	p.stages = append(p.stages, func(dst []cutPiece, piece cutPiece) []cutPiece {
		piece.text = strings.ReplaceAll(piece.text, " ", rep)
		if (scheme == "always" || scheme == "first" && piece.first) && !strings.HasPrefix(piece.text, rep) {
			piece.text = rep + piece.text
		}
		if c.Split != nil && !*c.Split {
			return append(dst, piece)
		}
		return parts(dst, piece)
	})
	return nil
}

// cut runs the stages over text. What it returns is valid until the next call.
func (p *preTokenizer) cut(w *cutter, text cutPiece) []cutPiece {
	w.pieces = append(w.pieces[:0], text)
	for _, s := range p.stages {
		w.spare = w.spare[:0]
		for _, piece := range w.pieces {
			w.spare = s(w.spare, piece)
		}
		w.pieces, w.spare = w.spare, w.pieces
	}
	return w.pieces
}

// cutter holds the arrays of one worker's cutting.
type cutter struct{ pieces, spare []cutPiece }
