package ingest

import (
	"strings"

	"github.com/valyala/fastjson"

	"reprise/ingest/chat"
	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/scalar"
	"reprise/trace"
)

// features reads what the request used. A log of whole requests says no by
// leaving a key out, and so does a column that the user names; any other log says
// nothing.
func (b *builder) features(r *Record) {
	r.Stream = b.flag(FieldStream)
	r.ProxyCache = b.flag(FieldProxyCache)
	r.Tools = b.present(FieldTools)
	if c, _, ok := b.full(FieldTools); ok && r.Tools.V {
		list := c.Value
		if inner := b.inner(c); inner != nil {
			list = inner
		}
		if list != nil && list.Type() == fastjson.TypeArray {
			r.ToolText = notation.Text(list)
		}
	}
	r.JSONSchema, r.SchemaText = b.schema()
	b.early(r)
	whole := b.mapping.Complete && r.HasPrompt
	for _, f := range [...]struct {
		field Field
		to    *trace.Opt[bool]
	}{{FieldStream, &r.Stream}, {FieldTools, &r.Tools}, {FieldJSONSchema, &r.JSONSchema}} {
		if !f.to.OK && (whole || b.unused(f.field)) {
			*f.to = trace.Some(false)
		}
	}
}

// unused says that a row has nothing in a column of the user's, though it has
// the body that the column is a part of.
func (b *builder) unused(f Field) bool {
	for i := range b.read.cols[f] {
		col := &b.read.cols[f][i]
		if !col.col.asked || col.at.slot < 0 || col.when != nil && !b.holds(col.when) {
			continue
		}
		c := b.read.cell(col.at)
		if s, _ := b.scalar(c); (c.Absent() || empty(c) || void(s) && isText(c)) && b.read.around(col) {
			return true
		}
	}
	return false
}

func isText(c rows.Cell) bool { return c.Value == nil || c.Value.Type() == fastjson.TypeString }

// early infers a stream from the time of the first token, in sources that give
// one to streams alone. Where it is the end, there was none.
func (b *builder) early(r *Record) {
	if !b.mapping.earlyStream || !(r.FirstToken.OK || r.TTFT.OK) {
		return
	}
	whole := r.FirstToken.OK && r.End.OK && r.FirstToken.V >= r.End.V
	if !r.Stream.OK {
		r.Stream = trace.Some(!whole)
	}
	if whole {
		r.FirstToken, r.TTFT = trace.Opt[int64]{}, trace.Opt[int64]{}
	}
}

// flag reads a bool in the spellings of JSON, Python, SQL and of the gateways.
func (b *builder) flag(f Field) trace.Opt[bool] {
	s, ok := b.get(f)
	if !ok {
		return trace.Opt[bool]{}
	}
	switch strings.ToLower(s) {
	case "true", "t", "yes", "1", "hit", "streaming":
		return trace.Some(true)
	case "false", "f", "no", "0", "miss", "non-streaming":
		return trace.Some(false)
	}
	return trace.Opt[bool]{}
}

// present is true for a list or object that is not empty.
func (b *builder) present(f Field) trace.Opt[bool] {
	c, col, ok := b.full(f)
	if !ok {
		c, col, ok = b.cell(f)
	}
	if !ok {
		return trace.Opt[bool]{}
	}
	if col.col.Const != "" || col.col.As == "present" || col.col.Values != nil {
		s, ok := b.valueOf(c, col)
		return trace.Opt[bool]{V: s == "true", OK: ok}
	}
	if inner := b.inner(c); inner != nil {
		c = rows.Cell{Value: inner}
	}
	if c.Value != nil {
		switch c.Value.Type() {
		case fastjson.TypeArray:
			list, _ := c.Value.Array()
			return trace.Some(len(list) > 0)
		case fastjson.TypeObject:
			o, _ := c.Value.Object()
			return trace.Some(o.Len() > 0)
		}
	}
	return b.flag(f)
}

// schema reads response_format: only a JSON schema constrains the answer. text is
// the schema, where the log has it.
func (b *builder) schema() (used trace.Opt[bool], text string) {
	c, col, ok := b.cell(FieldJSONSchema)
	if !ok {
		return used, ""
	}
	inner := b.inner(c)
	if col.col.Const != "" || col.col.As == "present" || col.col.Values != nil {
		s, ok := b.valueOf(c, col)
		if inner == nil {
			inner = c.Value
		}
		if used = (trace.Opt[bool]{V: s == "true", OK: ok}); used.V && col.col.As == "present" {
			text = schemaText(inner)
		}
		return used, text
	}
	if inner != nil {
		c = rows.Cell{Value: inner}
	}
	if c.Value == nil || c.Value.Type() != fastjson.TypeObject {
		if s, ok := b.scalar(c); ok && s == "json_schema" {
			return trace.Some(true), ""
		}
		return b.flag(FieldJSONSchema), ""
	}
	switch string(c.Value.GetStringBytes("type")) {
	case "text", "json_object":
		return trace.Some(false), ""
	}
	return trace.Some(true), schemaText(c.Value)
}

// schemaText is the schema in what asks for it: OpenAI's two interfaces,
// Anthropic's, vLLM's and SGLang's wrap it, Gemini's does not.
func schemaText(v *fastjson.Value) string {
	if v == nil || v.Type() != fastjson.TypeObject {
		return ""
	}
	for _, path := range [...][]string{{"json_schema", "schema"}, {"schema"}, {"json_schema"}, {"json"}} {
		switch s := v.Get(path...); {
		case s == nil:
		case s.Type() == fastjson.TypeObject || s.Type() == fastjson.TypeString:
			return notation.Text(s)
		}
	}
	if string(v.GetStringBytes("type")) == "json_schema" {
		return "" // it was left out
	}
	return notation.Text(v)
}

// ending reads status, error and finish reason.
func (b *builder) ending(r *Record) {
	if f := b.finish(); f != trace.FinishUnknown {
		r.Finish = f
	}
	if s, ok := b.get(FieldStatus); ok {
		b.status(r, s)
	}
	if c, _, ok := b.cell(FieldError); ok && !emptyError(c) {
		r.Finish = trace.FinishError
	}
	switch {
	case r.Status.V == 499:
		r.Finish = trace.FinishCancelled
	case r.Status.V >= 400:
		r.Finish = trace.FinishError
	}
}

// finish reads the finish reason: text, or a list of which the first counts.
func (b *builder) finish() trace.Finish {
	c, col, ok := b.cell(FieldFinish)
	if !ok {
		return trace.FinishUnknown
	}
	if inner := b.inner(c); inner != nil {
		return chat.FinishOf(chat.FinishReason(inner))
	}
	if c.Value != nil && c.Value.Type() != fastjson.TypeString && col.simple {
		return chat.FinishOf(chat.FinishReason(c.Value))
	}
	s, _ := b.valueOf(c, col)
	return chat.FinishOf(s)
}

// status reads an HTTP status, or a word for it. -1 and other numbers that are
// none, as products use for calls that are pending or were given up, are left.
func (b *builder) status(r *Record, s string) {
	head, _, _ := strings.Cut(strings.Trim(s, " \t"), " ")
	if code, wrong := scalar.ParseCount(head, 999); wrong == "" {
		if code >= 100 {
			r.Status = trace.Some(int16(code))
		}
		return
	}
	switch strings.ToLower(s) {
	case "failure", "error", "failed", "status_code_error":
		r.Finish = trace.FinishError
	case "cancelled", "canceled", "aborted":
		r.Finish = trace.FinishCancelled
	}
}

// emptyError says that an error column holds no error.
func emptyError(c rows.Cell) bool {
	if c.Value == nil {
		return false
	}
	switch c.Value.Type() {
	case fastjson.TypeString:
		s, _ := c.Value.StringBytes()
		return len(s) == 0
	case fastjson.TypeFalse:
		return true
	case fastjson.TypeObject:
		o, _ := c.Value.Object()
		return o.Len() == 0
	}
	return false
}
