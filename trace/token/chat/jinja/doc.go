// Package jinja renders chat templates: the Jinja that model makers write into
// tokenizer_config.json, with the settings and extensions that the transformers
// library gives it.
//
//	source  --lex-->  tokens  --parse-->  tree  --Render-->  text
//
// The grammar and the rules of white space are those of Jinja 3.1 with
// trim_blocks and lstrip_blocks; values print, compare and slice as Python's do.
// There are break and continue, generation blocks, tojson as json.dumps without
// ASCII escapes, raise_exception, strftime_now, and namespace. Values do not
// change but by set, as in Jinja's immutable sandbox.
//
// A template is a program from elsewhere, so a rendering has [Limits]: steps,
// bytes made, and depth. What exceeds them is an error; nothing panics.
//
// Not here: template inheritance, include and import, autoescaping, custom
// filters, integers beyond 64 bits.
package jinja
