// Package chat renders conversations by a model's chat template, so that a
// prompt's tokens are those that the server counts and caches.
//
// A template comes from a tokenizer_config.json, a chat_template.jinja or the
// folder of a model, or is one of the few that are built in ([Names]): those
// whose text is fixed by the format itself. Rendering is apply_chat_template of
// the transformers library: keys that are null are left out, reasoning is seen
// under each of its names, special tokens are variables. As vLLM does, the
// arguments of tool calls are parsed, and text parts are joined by a line end for
// templates that do not go through the parts themselves.
//
// The package jinja below it runs the templates, within limits: a template is a
// program from elsewhere.
//
// Not here: token ids; the placeholder tokens of images, which a processor adds
// after the template; the defaults that a server puts into tools.
package chat
