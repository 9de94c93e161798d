package ingest

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"reprise/ingest/chat"
	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/scalar"
	"reprise/trace"
)

// prompt reads what was asked, as messages or as text, and infers the endpoint
// from which of them is there when the log does not name it.
func (b *builder) prompt(r *Record) {
	if s, ok := b.get(FieldAPI); ok {
		r.API, r.OtherAPI = chat.Endpoint(s)
	}
	if c, col, ok := b.full(FieldMessages); ok {
		b.chat(r, c, col)
	}
	if c, _, ok := b.full(FieldPrompt); ok && !r.HasPrompt {
		b.text(r, c)
	}
	if c, _, ok := b.full(FieldSystem); ok && r.HasPrompt && len(r.Messages) > 0 {
		if text, n := b.content(c); text != "" {
			r.Messages = append([]chat.Message{{Role: "system", Text: text}}, r.Messages...)
			r.MediaParts += n
		}
	}
	b.cut(r)
}

func (b *builder) chat(r *Record, c rows.Cell, col *planColumn) {
	v := c.Value
	if inner := b.inner(c); inner != nil {
		v = inner
	} else if s, text := b.string(c); text && looksLikeJSON(s) {
		r.Truncated = true // the log cut its JSON
	}
	if v == nil { // a table cell with plain text
		r.Messages = []chat.Message{{Role: "user", Text: notation.String([]byte(c.Text))}}
	} else {
		var ok bool
		if r.Messages, r.MediaParts, ok = chat.Messages(v); !ok {
			if col.col.As != "text" {
				b.fail(badField(rows.BadType, FieldMessages, "is no list of messages"))
				return
			}
			r.Messages = []chat.Message{{Role: "user", Text: notation.Text(v)}}
		}
	}
	if len(r.Messages) == 0 {
		return
	}
	r.HasPrompt = true
	if r.API == trace.APIUnknown && !r.OtherAPI {
		r.API = trace.Chat
	}
}

// string is the text of a cell that holds text.
func (b *builder) string(c rows.Cell) (string, bool) {
	if c.Value == nil {
		return c.Text, true
	}
	if c.Value.Type() != fastjson.TypeString {
		return "", false
	}
	return string(c.Value.GetStringBytes()), true
}

// looksLikeJSON tells text that begins as a list of messages does.
func looksLikeJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return strings.HasPrefix(s, `[{"`) || strings.HasPrefix(s, `{"`)
}

// inner parses a list or object that is stored as text.
func (b *builder) inner(c rows.Cell) *fastjson.Value {
	s, ok := b.string(c)
	if !ok {
		return nil
	}
	return b.read.first().Decode(s)
}

func (b *builder) content(c rows.Cell) (string, int) {
	if inner := b.inner(c); inner != nil {
		return chat.Content(inner)
	}
	if c.Value == nil {
		return notation.String([]byte(c.Text)), 0
	}
	return chat.Content(c.Value)
}

// text reads a prompt of the completions interface: a string, several that are
// joined, or token ids.
func (b *builder) text(r *Record, c rows.Cell) {
	r.HasPrompt = true
	if r.API == trace.APIUnknown && !r.OtherAPI {
		r.API = trace.Completions
	}
	if c.Value == nil {
		r.Prompt = notation.String([]byte(c.Text))
		return
	}
	list, err := c.Value.Array()
	if err != nil || len(list) == 0 || list[0].Type() != fastjson.TypeNumber {
		r.Prompt, r.MediaParts = chat.Content(c.Value)
		return
	}
	r.PromptTokens = make([]int32, 0, len(list))
	for _, v := range list {
		id, err := v.Int64()
		if v.Type() == fastjson.TypeString { // stands for ids that the log left out
			r.PromptTokens, r.Truncated = nil, true
			return
		}
		if err != nil || id < 0 || id > 1<<30 {
			b.fail(badField(rows.BadType, FieldPrompt, "has an entry that is no token id"))
			return
		}
		r.PromptTokens = append(r.PromptTokens, int32(id))
	}
}

// cut looks for what a log writes in the place of text that it left out, and of
// text that it hides.
func (b *builder) cut(r *Record) {
	m := b.mapping
	if len(m.truncated)+len(m.redacted) > 0 && r.HasPrompt {
		r.Truncated = r.Truncated || marked(r.Prompt, m.truncated)
		for i := range r.Messages {
			r.Truncated = r.Truncated || marked(r.Messages[i].Text, m.truncated)
		}
		hidden := func(msg chat.Message) bool { return slices.Contains(m.redacted, strings.TrimSpace(msg.Text)) }
		if slices.ContainsFunc(r.Messages, hidden) || slices.Contains(m.redacted, strings.TrimSpace(r.Prompt)) {
			r.Redacted, r.HasPrompt, r.Messages, r.Prompt, r.MediaParts = true, false, nil, "", 0
		}
	}
	if r.Truncated {
		b.notes.truncated++
	}
	if r.Redacted {
		b.notes.redacted++
	}
}

func marked(s string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool {
		head, mark, tail, ok := middleMark(m)
		if !ok {
			return strings.Contains(s, m)
		}
		return len(s) >= head+len(mark)+tail && cutMiddle(s, head, mark, tail)
	})
}

// middleMark reads a mark of the form head|mark|tail: a text was cut when it is
// so many characters, the mark, and so many characters. It is for marks that
// texts have themselves.
func middleMark(m string) (head int, mark string, tail int, ok bool) {
	if strings.IndexByte(m, '|') < 0 {
		return 0, "", 0, false
	}
	parts := strings.Split(m, "|")
	if len(parts) != 3 || !scalar.Digits(parts[0]) || !scalar.Digits(parts[2]) {
		return 0, "", 0, false
	}
	head, _ = strconv.Atoi(parts[0])
	tail, _ = strconv.Atoi(parts[2])
	return head, parts[1], tail, true
}

func cutMiddle(s string, head int, mark string, tail int) bool {
	if len(s) > utf8.UTFMax*(head+tail)+len(mark) || utf8.RuneCountInString(s) != head+utf8.RuneCountInString(mark)+tail {
		return false
	}
	at := 0
	for range head {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return strings.HasPrefix(s[at:], mark)
}

func (b *builder) answer(r *Record) {
	c, col, ok := b.full(FieldOutput)
	if !ok {
		return
	}
	v := c.Value
	if inner := b.inner(c); inner != nil {
		v = inner
	}
	if v == nil || v.Type() == fastjson.TypeString {
		s, _ := b.string(c)
		if slices.Contains(b.mapping.redacted, strings.TrimSpace(s)) {
			b.hide(r)
			return
		}
		if s == "None" || s == "null" {
			return
		}
		r.Output, r.HasOutput = notation.String([]byte(s)), true
		return
	}
	text, finish, ok := chat.Answer(v)
	switch {
	case !ok && col.col.As == "text":
		text = notation.Text(v)
	case !ok && v.Type() == fastjson.TypeObject:
		return // a body without an answer, such as an error's
	case !ok:
		b.fail(badField(rows.BadType, FieldOutput, "is no text, message or list of choices"))
		return
	}
	r.Finish = chat.FinishOf(finish)
	if slices.Contains(b.mapping.redacted, strings.TrimSpace(text)) {
		b.hide(r)
		return
	}
	r.Output, r.HasOutput = text, true
}

// hide notes a text that the log replaced.
func (b *builder) hide(r *Record) {
	if !r.Redacted {
		b.notes.redacted++
	}
	r.Redacted = true
}
