package chat

import (
	"errors"
	"strings"

	"reprise/trace/token/chat/jinja"
)

// Text is a message that has a role and a text only.
func Text(role, text string) *jinja.Dict { return dict("role", role, "content", text) }

// reasoningNames are the names under which a message may have its reasoning;
// transformers' _alias_reasoning_fields has the same.
var reasoningNames = [...]string{"reasoning_content", "thinking", "reasoning"}

// normalize makes messages what a template is given: without keys that are
// null, with reasoning under its names, with the arguments of tool calls as
// values, and with text parts joined where the template wants a string.
func (t *Template) normalize(messages []*jinja.Dict) *jinja.List {
	out := &jinja.List{Items: make([]any, 0, len(messages))}
	for _, m := range messages {
		out.Items = append(out.Items, t.message(m))
	}
	return out
}

func (t *Template) message(m *jinja.Dict) *jinja.Dict {
	if !t.changes(m) {
		return m
	}
	own := &jinja.Dict{}
	m.Each(func(k, v any) {
		if v != nil {
			own.Set(k, v)
		}
	})
	if calls, ok := own.Get("tool_calls"); ok {
		own.Set("tool_calls", parsedCalls(calls))
	}
	if parts, ok := own.Get("content"); ok {
		if list, ok := parts.(*jinja.List); ok && t.parts {
			own.Set("content", namedParts(list))
		} else if ok {
			own.Set("content", joinParts(list))
		}
	}
	return aliased(own)
}

// changes tells whether a message is other than a role with a text.
func (t *Template) changes(m *jinja.Dict) bool {
	plain := 0
	for _, key := range []string{"role", "content", "name", "tool_call_id"} {
		if v, ok := m.Get(key); ok {
			if _, ok := v.(string); ok {
				plain++
			}
		}
	}
	return plain != m.Len()
}

func aliased(m *jinja.Dict) *jinja.Dict {
	for _, name := range reasoningNames {
		v, ok := m.Get(name)
		if !ok {
			continue
		}
		out := dict("thinking", v)
		m.Each(func(k, v any) { out.Set(k, v) })
		out.Set("reasoning_content", v)
		return out
	}
	return m
}

// parsedCalls makes values of arguments that are JSON in a string.
func parsedCalls(calls any) any {
	list, ok := calls.(*jinja.List)
	if !ok {
		return calls
	}
	out := &jinja.List{Items: make([]any, len(list.Items))}
	for i, c := range list.Items {
		out.Items[i] = parsedCall(c)
	}
	return out
}

func parsedCall(c any) any {
	d, ok := c.(*jinja.Dict)
	if !ok {
		return c
	}
	out := &jinja.Dict{}
	d.Each(func(k, v any) {
		switch text, isText := v.(string); {
		case k == "function":
			v = parsedCall(v)
		case k == "arguments" && isText:
			if parsed, err := Decode(text); err == nil {
				v = parsed
			} else if strings.TrimSpace(text) == "" {
				v = &jinja.Dict{}
			}
		}
		out.Set(k, v)
	})
	return out
}

// joinParts joins the text of parts as vLLM does for templates that want a
// string; parts without text are left out.
func joinParts(parts *jinja.List) string {
	var texts []string
	for _, p := range parts.Items {
		switch x := p.(type) {
		case string:
			texts = append(texts, x)
		case *jinja.Dict:
			for _, key := range []string{"text", "refusal", "thinking"} {
				if v, ok := x.Get(key); ok {
					if text, ok := v.(string); ok {
						texts = append(texts, text)
					}
					break
				}
			}
		}
	}
	return strings.Join(texts, "\n")
}

// namedParts gives the parts of images, audio and video the types that templates
// know them by.
func namedParts(parts *jinja.List) *jinja.List {
	out := &jinja.List{Items: make([]any, len(parts.Items))}
	for i, p := range parts.Items {
		out.Items[i] = p
		d, ok := p.(*jinja.Dict)
		if !ok {
			continue
		}
		switch kind, _ := d.Get("type"); kind {
		case "image_url", "input_image":
			out.Items[i] = dict("type", "image")
		case "input_audio", "audio_url":
			out.Items[i] = dict("type", "audio")
		case "video_url":
			out.Items[i] = dict("type", "video")
		}
	}
	return out
}

// Message makes a message of its JSON.
func Message(text string) (*jinja.Dict, error) {
	v, err := Decode(text)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*jinja.Dict)
	if !ok {
		return nil, errors.New("a message is no object")
	}
	return d, nil
}

// Tools makes the list of tools of its JSON. Those in the form of Anthropic's
// or OpenAI's Responses interface get the form of the chat interface, which
// templates know; null and an empty list are none.
func Tools(text string) (*jinja.List, error) {
	v, err := Decode(text)
	if err != nil {
		return nil, err
	}
	list, ok := v.(*jinja.List)
	if !ok || len(list.Items) == 0 {
		return nil, nil
	}
	for i, t := range list.Items {
		d, ok := t.(*jinja.Dict)
		if !ok {
			continue
		}
		_, has := d.Get("function")
		name, named := d.Get("name")
		if has || !named {
			continue
		}
		f := dict("name", name)
		for _, key := range [][2]string{{"description", "description"}, {"parameters", "parameters"}, {"input_schema", "parameters"}} {
			if v, ok := d.Get(key[0]); ok {
				f.Set(key[1], v)
			}
		}
		list.Items[i] = dict("type", "function", "function", f)
	}
	return list, nil
}
