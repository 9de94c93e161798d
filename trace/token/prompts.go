package token

// Special is a token that no ordinary text becomes: it stands in a rendered
// prompt as its text.
type Special struct {
	Text string
	ID   int32
}

// Prompts encodes prompts that a chat template rendered: special tokens that
// stand in the text become their ids, wherever they stand, as in a server.
// Since nothing merges over a special token, the text between two of them is
// encoded by itself, and what was encoded before is taken from a memo. Ids are
// the same with and without it. Any number of goroutines may share it.
type Prompts struct {
	tok      *Tokenizer
	hf       *hfTokenizer // nil: specials are matched here
	specials *addedMatcher
	memo     *Memo
}

// Kinds of text in the memo.
const (
	memoText  byte = iota // without special tokens
	memoFirst             // the first part of a prompt
	memoPart              // any other part of a prompt
)

// NewPrompts returns the encoder of prompts of a tokenizer. A tokenizer.json has
// its special tokens itself; for any other vocabulary they are specials, beside
// those of the embedded encodings (see Specials). memo may be nil.
func NewPrompts(t *Tokenizer, specials []Special, memo *Memo) *Prompts {
	p := &Prompts{tok: t, memo: memo}
	if h, ok := t.enc.(*hfTokenizer); ok {
		p.hf, p.specials = h, h.raw
		if !h.cutsAtSpecials() {
			p.specials = newAddedMatcher()
		}
		return p
	}
	p.specials = newAddedMatcher()
	for _, s := range append(Specials(t.name), specials...) {
		p.specials.add(s.Text, addedToken{Content: s.Text, ID: int(s.ID), Special: true})
	}
	return p
}

// cutsAtSpecials tells whether the text between special tokens is encoded by
// itself. A token that wants to be a single word looks at what stands around it.
func (h *hfTokenizer) cutsAtSpecials() bool {
	for _, m := range []*addedMatcher{h.raw, h.normalized} {
		for i := range m.tokens {
			if m.tokens[i].SingleWord {
				return false
			}
		}
	}
	return true
}

// Tokenizer returns the tokenizer that it was made for.
func (p *Prompts) Tokenizer() *Tokenizer { return p.tok }

// Encode appends the ids of a rendered prompt.
func (p *Prompts) Encode(dst []int32, text string) []int32 {
	text = Repair(text)
	done := 0
	for i := 0; ; {
		t, start, end := p.specials.find(text, i)
		if t == nil {
			break
		}
		i = end
		if !t.Special || t.LStrip || t.RStrip {
			continue // a part of the text around it
		}
		dst = p.part(dst, text[done:start], done)
		dst = append(dst, int32(t.ID))
		done = end
	}
	return p.part(dst, text[done:], done)
}

// part encodes a text between special tokens that begins at a place of the
// prompt.
func (p *Prompts) part(dst []int32, text string, at int) []int32 {
	switch {
	case text == "":
		return dst
	case p.memo == nil || len(text) < memoShort:
		return p.encode(dst, text, at)
	}
	kind := memoPart
	if at == 0 {
		kind = memoFirst
	}
	return p.remember(dst, text, kind, func(dst []int32) []int32 { return p.encode(dst, text, at) })
}

func (p *Prompts) encode(dst []int32, text string, at int) []int32 {
	if p.hf != nil {
		return p.hf.encodeAt(dst, text, at)
	}
	return p.tok.enc.encode(dst, text)
}

// EncodeText appends the ids of text as Tokenizer.Encode does, from the memo
// where it knows them.
func (p *Prompts) EncodeText(dst []int32, text string) []int32 {
	if p.memo == nil || len(text) < memoShort {
		return p.tok.Encode(dst, text)
	}
	return p.remember(dst, text, memoText, func(dst []int32) []int32 { return p.tok.Encode(dst, text) })
}

func (p *Prompts) remember(dst []int32, text string, kind byte, encode func([]int32) []int32) []int32 {
	k := p.memo.of(text, kind)
	dst, ok := p.memo.get(dst, k)
	if ok {
		return dst
	}
	n := len(dst)
	dst = encode(dst)
	p.memo.put(k, dst[n:])
	return dst
}

// Specials returns the special tokens of an embedded encoding that stand in chat
// prompts: those of openai_public.py in openai/tiktoken, for o200k_base with the
// ones of o200k_harmony, and for cl100k_base with the ones of ChatML that
// tiktoken's README and Microsoft's documentation give it.
func Specials(encoding string) []Special {
	switch encoding {
	case "cl100k_base":
		return []Special{{"<|endoftext|>", 100257}, {"<|fim_prefix|>", 100258}, {"<|fim_middle|>", 100259},
			{"<|fim_suffix|>", 100260}, {"<|im_start|>", 100264}, {"<|im_end|>", 100265}, {"<|im_sep|>", 100266},
			{"<|endofprompt|>", 100276}}
	case "o200k_base":
		return []Special{{"<|startoftext|>", 199998}, {"<|endoftext|>", 199999}, {"<|return|>", 200002},
			{"<|constrain|>", 200003}, {"<|channel|>", 200005}, {"<|start|>", 200006}, {"<|end|>", 200007},
			{"<|message|>", 200008}, {"<|call|>", 200012}, {"<|endofprompt|>", 200018}}
	}
	return nil
}
