// Package token counts tokens and makes text of exactly so many tokens.
//
// A [Tokenizer] splits text by the encoding's regular expression, hand-written
// as a scanner, and merges each piece by rank. Ids equal those of
// openai/tiktoken's encode_ordinary: special tokens are never parsed from text.
// The vocabularies cl100k_base and o200k_base are embedded and checked at
// opening against the SHA-256 of the published files; nothing is downloaded.
//
// Text that is not UTF-8 is repaired first: one U+FFFD for each maximal bad part
// (see [Repair]). Character classes are those of Unicode 16.
//
// A [Text] makes surrogate text from block ids: the words of a block are a
// public function of seed and id, drawn from a frozen list of words that are one
// token each, so that equal prefixes of ids are equal prefixes of text and the
// number of tokens is exact.
//
// Units: tokens, bytes. Not here: chat templates, special tokens, decoding,
// tokenizer.json files.
package token
