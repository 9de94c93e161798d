package chat

import (
	"fmt"
	"slices"
	"strings"
)

// builtin are templates whose text the format itself fixes, written for this
// package: the frame of each message, and the start of the answer. They have no
// default system message and no form of tools, which differ from model to model.
func builtin() map[string]*config {
	return map[string]*config{
		// ChatML: <|im_start|>role\ncontent<|im_end|>\n (openai-python v0.27, chatml.md).
		"chatml": {sources: map[string]string{"default": `{% for m in messages %}
{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`}},
		// Llama 3: Meta's prompt format, "Special tokens used with Llama 3".
		"llama3": {vars: map[string]string{"bos_token": "<|begin_of_text|>"}, sources: map[string]string{"default": `{{ bos_token }}
{%- for m in messages %}
{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}`}},
		// Mistral v1 to v3: [INST] content [/INST]; the system's text opens the last
		// user's message (mistral-common's docs on tokenization).
		"mistral": {vars: map[string]string{"bos_token": "<s>", "eos_token": "</s>"}, sources: map[string]string{"default": `{{ bos_token }}
{%- set ns = namespace(system='') %}
{%- set said = messages | rejectattr('role', 'equalto', 'system') | list %}
{%- for m in messages if m.role == 'system' %}{% set ns.system = ns.system + m.content + '\n\n' %}{% endfor %}
{%- for m in said %}
{%- if m.role == 'assistant' %}{{ ' ' + m.content | trim + eos_token }}
{%- else %}{{ '[INST] ' + (ns.system if loop.last else '') + m.content + '[/INST]' }}{% endif %}
{%- endfor %}`}},
		// Gemma: <start_of_turn>role\ncontent<end_of_turn>\n; the system's text opens
		// the first user's (Google's "Gemma formatting and system instructions").
		"gemma": {vars: map[string]string{"bos_token": "<bos>"}, sources: map[string]string{"default": `{{ bos_token }}
{%- set ns = namespace(system='') %}
{%- for m in messages %}
{%- if m.role == 'system' %}{% set ns.system = ns.system + m.content | trim + '\n\n' %}
{%- else %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\n' + ns.system + m.content | trim + '<end_of_turn>\n' }}
{%- set ns.system = '' %}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}`}},
	}
}

// Names returns the built-in templates, sorted.
func Names() []string {
	var names []string
	for name := range builtin() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named returns a built-in template.
func Named(name string) (*Template, error) {
	c, ok := builtin()[name]
	if !ok {
		return nil, fmt.Errorf("no template %q: neither %s nor a file or folder", name, strings.Join(Names(), ", "))
	}
	return c.template(name)
}
