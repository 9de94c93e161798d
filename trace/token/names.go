package token

import "strings"

// family is the start of model names that one encoding serves.
type family struct{ prefix, encoding string }

// families follows tiktoken/model.py of openai/tiktoken. gpt-oss names
// o200k_harmony there, which has the ranks of o200k_base and more special tokens.
func families() []family {
	const cl100k, o200k = "cl100k_base", "o200k_base"
	return []family{
		{"gpt-5", o200k}, {"gpt-4.5", o200k}, {"gpt-4.1", o200k}, {"gpt-4o", o200k}, {"chatgpt-4o", o200k},
		{"gpt-oss", o200k}, {"o1", o200k}, {"o3", o200k}, {"o4-mini", o200k},
		{"gpt-4", cl100k}, {"gpt-3.5", cl100k}, {"gpt-35", cl100k}, {"gpt-3.5-turbo", cl100k}, {"gpt-35-turbo", cl100k},
		{"davinci-002", cl100k}, {"babbage-002", cl100k},
		{"text-embedding-ada-002", cl100k}, {"text-embedding-3-small", cl100k}, {"text-embedding-3-large", cl100k},
	}
}

// ForModel returns the tokenizer of an OpenAI model: its own name, a dated or
// sized variant of it ("gpt-4o-2024-05-13"), a fine-tune ("ft:gpt-4o:…"), with or
// without a provider before a slash ("openai/gpt-5"). For any other model ok is
// false: a count by another model's tokenizer is an estimate.
func ForModel(model string) (name string, ok bool) {
	model = strings.ToLower(strings.TrimSpace(model))
	model = model[strings.LastIndexByte(model, '/')+1:]
	model = strings.TrimPrefix(model, "ft:")
	longest := 0
	for _, f := range families() {
		rest, is := strings.CutPrefix(model, f.prefix)
		// "gpt-5.1" and "gpt-5-mini" are of the family gpt-5, "gpt-50" is not.
		if is && (rest == "" || strings.ContainsRune("-.:@", rune(rest[0]))) && len(f.prefix) > longest {
			name, ok, longest = f.encoding, true, len(f.prefix)
		}
	}
	return name, ok
}
