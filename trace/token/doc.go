// Package token counts tokens and makes text of exactly so many tokens.
//
// A [Tokenizer] splits text by the encoding's regular expression and merges each
// piece by rank. Ids equal those of openai/tiktoken's encode_ordinary: special
// tokens are never parsed from text. The vocabularies cl100k_base and o200k_base
// are embedded and checked at opening against the SHA-256 of the published files;
// nothing is downloaded. Files: tokenizer.json, tekken.json, rank files.
//
// Steps: 64 bytes at a time become bit masks of character classes, from which the
// starts of pieces follow by arithmetic; where they are in doubt a hand-written
// scanner, which defines the truth, cuts one piece. Pieces are looked up 512 at a
// time in a worker's cache, whose slots are fetched ahead; what it lacks is merged,
// eight pieces in turn. With the embedded vocabularies the time is linear in the
// bytes of any text.
//
// Text that is not UTF-8 is repaired first: one U+FFFD for each maximal bad part
// (see [Repair]). Character classes are those of Unicode 16.
//
// A [Text] makes surrogate text from block ids: the words of a block are a
// public function of seed and id, drawn from a frozen list of words that are one
// token each, so that equal prefixes of ids are equal prefixes of text and the
// number of tokens is exact.
//
// Rooms: class, what is known of a character; regex, patterns that no scanner
// knows; form, Unicode's normal forms; chat, templates.
//
// Units: tokens, bytes. Not here: decoding.
package token
