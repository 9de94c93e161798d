package ingest

import (
	"math"
	"strconv"

	"reprise/ingest/scalar"
	"reprise/ingest/usage"
	"reprise/trace"
)

// counts reads the token counts, whatever they include, and the others.
func (b *builder) counts(r *Record) {
	u := b.usage()
	if b.learning != nil {
		b.learning.Add(&u)
	}
	b.notes.usage.Add(u.Settle(b.votes, b.mapping.rest))
	b.gaps(r, &u)
	b.narrow(&r.InputTokens, u.Input, FieldInputTokens)
	b.narrow(&r.OutputTokens, u.Output, FieldOutputTokens)
	b.narrow(&r.CachedTokens, u.Cached, FieldCachedTokens)
	b.narrow(&r.ReasoningTokens, u.Reasoning, FieldReasoningTokens)
	if !b.read.has.limits {
		return
	}
	b.narrow(&r.MediaTokens, b.count(FieldMediaTokens, maxTokens), FieldMediaTokens)
	b.narrow(&r.MaxTokens, b.limit(), FieldMaxTokens)
	n := b.count(FieldN, math.MaxInt16)
	r.N = trace.Opt[int16]{V: int16(n.V), OK: n.OK && n.V > 0}
	a := b.count(FieldAttempt, math.MaxInt16)
	r.Attempt = trace.Opt[int16]{V: int16(a.V), OK: a.OK}
}

// narrow puts a count into the record. Sums of counts may be too large for it.
func (b *builder) narrow(to *trace.Opt[int32], from trace.Opt[int64], f Field) {
	if from.V > maxTokens {
		b.fail(badField(BadNumber, f, "is too large"))
		return
	}
	*to = trace.Opt[int32]{V: int32(from.V), OK: from.OK}
}

func (b *builder) usage() usage.Tokens {
	u := usage.Tokens{Input: b.count(FieldInputTokens, maxTokens), Output: b.count(FieldOutputTokens, maxTokens),
		Total: b.count(FieldTotalTokens, 4*maxTokens), Cached: b.count(FieldCachedTokens, maxTokens),
		Written: b.count(FieldCacheWriteTokens, maxTokens), Reasoning: b.count(FieldReasoningTokens, maxTokens)}
	if u.Cached.V+u.Written.V+u.Reasoning.V == 0 {
		return u
	}
	u.CachedBeside = b.beside(FieldCachedTokens) || b.beside(FieldCacheWriteTokens)
	u.ReasonBeside = b.beside(FieldReasoningTokens)
	name, _ := b.peek(FieldProvider)
	model, _ := b.peek(FieldModel)
	column := b.columnOf(FieldCachedTokens)*100 + b.columnOf(FieldReasoningTokens)
	u.Source = usage.Provider(name, model) + strconv.Itoa(column)
	return u
}

func (b *builder) beside(f Field) bool {
	_, col, ok := b.cell(f)
	return ok && col.col.Beside
}

// columnOf is the number of the column that a field is taken from, or -1.
func (b *builder) columnOf(f Field) int {
	_, col, ok := b.cell(f)
	for i := range b.read.cols[f] {
		if ok && &b.read.cols[f][i] == col {
			return i
		}
	}
	return -1
}

// peek is the text of a field, empty where the row has none that is text.
func (b *builder) peek(f Field) (string, bool) {
	c, col, ok := b.cell(f)
	if !ok {
		return "", false
	}
	return b.valueOf(c, col)
}

// gaps takes zeroes that stand for counts nobody made as absent: servers write
// them where a stream ended without usage, and no request reads nothing.
func (b *builder) gaps(r *Record, u *usage.Tokens) {
	if b.mapping.realZeroes {
		return
	}
	zero := func(o trace.Opt[int64]) bool { return o.OK && o.V == 0 }
	input, output := zero(u.Input), zero(u.Output)
	switch {
	case input && (output || !u.Output.OK) && u.Total.V == 0:
		u.Input, u.Output = trace.Opt[int64]{}, trace.Opt[int64]{}
	case input && (u.Output.V > 0 || r.HasPrompt):
		u.Input = trace.Opt[int64]{}
	case output && r.HasOutput && r.Output != "":
		u.Output = trace.Opt[int64]{}
	default:
		return
	}
	if !u.Input.OK {
		u.Cached = trace.Opt[int64]{}
	}
	if !u.Output.OK {
		u.Reasoning = trace.Opt[int64]{}
	}
	b.notes.usage.Zeroes++
}

// limit is max_tokens; clients write -1, 0 and huge numbers for none.
func (b *builder) limit() trace.Opt[int64] {
	if s, ok := b.peek(FieldMaxTokens); ok {
		if v, err := strconv.ParseFloat(s, 64); err == nil && v <= 0 {
			return trace.Opt[int64]{}
		}
	}
	v := b.count(FieldMaxTokens, math.MaxInt64)
	return trace.Opt[int64]{V: v.V, OK: v.OK && v.V <= maxTokens}
}

func (b *builder) count(f Field, limit int64) trace.Opt[int64] {
	if len(b.read.cols[f]) == 0 {
		return trace.Opt[int64]{}
	}
	c, col, ok := b.cell(f)
	if !ok {
		return trace.Opt[int64]{}
	}
	var v int64
	var wrong string
	if whole, isInt := int64Of(c); isInt && col.simple {
		v, wrong = scalar.CheckCount(whole, limit)
	} else if col.simple && c.Value == nil && !void(c.Text) {
		v, wrong = scalar.ParseCount(c.Text, limit)
	} else if s, ok := b.get(f); ok {
		v, wrong = scalar.ParseCount(s, limit)
	} else {
		return trace.Opt[int64]{}
	}
	if wrong != "" {
		b.fail(badField(BadNumber, f, wrong))
	}
	return trace.Opt[int64]{V: v, OK: wrong == ""}
}
