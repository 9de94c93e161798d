package ingest

import (
	"math"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"reprise/trace"
)

// maxTokens is the largest count that is believed. No model takes a prompt of
// 16 million tokens, and a wild count would ask for memory that nobody has.
const maxTokens = 1 << 24

// maxInstant is the last relative time that is believed: 30 years in µs.
const maxInstant = 1e15

// builder makes a Record of the plan's cells. The first thing that is wrong is
// kept in bad and ends the row.
type builder struct {
	plan    *plan
	mapping *Mapping
	bad     *RowError
	scratch []byte
	notes   notes
}

// notes counts what was assumed.
type notes struct {
	naive, guessed int64
}

func (b *builder) build(pos Pos) (Record, *RowError) {
	b.bad = nil
	r := Record{Pos: pos}
	b.times(&r)
	b.names(&r)
	b.prompt(&r)
	b.answer(&r)
	b.counts(&r)
	b.features(&r)
	b.ending(&r)
	b.blocks(&r)
	if b.bad != nil {
		b.bad.Pos = pos
		return Record{Pos: pos}, b.bad
	}
	return r, nil
}

func (b *builder) fail(e *RowError) {
	if b.bad == nil {
		b.bad = e
	}
}

// cell returns the first column of a field that the row has.
func (b *builder) cell(f Field) (cell, string, bool) {
	for _, col := range b.plan.cols[f] {
		if c := b.plan.cells[col.slot]; !c.absent() {
			return c, col.unit, true
		}
	}
	return cell{}, "", false
}

// scalar is the text of a string, number or bool, valid until the next call.
func (b *builder) scalar(c cell) (string, bool) {
	if c.node == nil {
		return c.text, true
	}
	switch c.node.Type() {
	case fastjson.TypeString:
		s, _ := c.node.StringBytes()
		return string(s), true
	case fastjson.TypeNumber:
		b.scratch = c.node.MarshalTo(b.scratch[:0])
		return string(b.scratch), true
	case fastjson.TypeTrue:
		return "true", true
	case fastjson.TypeFalse:
		return "false", true
	}
	return "", false
}

// get is the scalar of a field; empty text counts as absent.
func (b *builder) get(f Field) (s, unit string, ok bool) {
	c, unit, ok := b.cell(f)
	if !ok {
		return "", "", false
	}
	s, scalar := b.scalar(c)
	if !scalar {
		b.fail(badField(BadType, f, "is neither text nor number"))
		return "", "", false
	}
	return s, unit, s != ""
}

func (b *builder) times(r *Record) {
	var relative, absolute bool
	for _, t := range []struct {
		f  Field
		to *trace.Opt[int64]
	}{{FieldArrival, &r.Arrival}, {FieldFirstToken, &r.FirstToken}, {FieldEnd, &r.End}} {
		s, unit, ok := b.get(t.f)
		if !ok {
			continue
		}
		st, ok := parseTime(s, unit)
		if !ok || st.us > epochMax*1_000_000 || (st.relative && st.us > maxInstant) {
			b.fail(badField(BadTime, t.f, "is no time that can be read"))
			return
		}
		*t.to = trace.Some(st.us)
		relative, absolute = relative || st.relative, absolute || !st.relative
		b.note(st)
	}
	if relative && absolute {
		b.fail(bad(BadTime, "one time counts from 1970 and another from the log's start"))
	}
	r.Relative = relative
	b.spans(r)
}

func (b *builder) note(st stamp) {
	if st.naive {
		b.notes.naive++
	}
	if st.guessed {
		b.notes.guessed++
	}
}

// spans reads durations and fills the time that follows from two others.
func (b *builder) spans(r *Record) {
	r.TTFT, r.Duration = b.span(FieldTTFT), b.span(FieldDuration)
	if !r.Arrival.OK && r.End.OK && r.Duration.OK && r.End.V >= r.Duration.V {
		r.Arrival = trace.Some(r.End.V - r.Duration.V)
	}
	if !r.Arrival.OK {
		return
	}
	for _, d := range []struct{ at, span *trace.Opt[int64] }{{&r.FirstToken, &r.TTFT}, {&r.End, &r.Duration}} {
		if d.at.OK && !d.span.OK && d.at.V >= r.Arrival.V {
			*d.span = trace.Some(d.at.V - r.Arrival.V)
		}
	}
}

func (b *builder) span(f Field) trace.Opt[int64] {
	s, unit, ok := b.get(f)
	if !ok {
		return trace.Opt[int64]{}
	}
	us, wrong := parseSpan(s, unit)
	if wrong != "" {
		b.fail(badField(BadNumber, f, wrong))
	}
	return trace.Opt[int64]{V: us, OK: wrong == ""}
}

func (b *builder) names(r *Record) {
	for _, n := range []struct {
		f  Field
		to *string
	}{{FieldRequestID, &r.RequestID}, {FieldParent, &r.Parent}, {FieldSession, &r.Session},
		{FieldClient, &r.Client}, {FieldModel, &r.Model}, {FieldAdapter, &r.Adapter}} {
		if s, _, ok := b.get(n.f); ok {
			*n.to = own([]byte(s))
		}
	}
}

func (b *builder) counts(r *Record) {
	for _, n := range []struct {
		f  Field
		to *trace.Opt[int32]
	}{{FieldInputTokens, &r.InputTokens}, {FieldOutputTokens, &r.OutputTokens}, {FieldCachedTokens, &r.CachedTokens},
		{FieldReasoningTokens, &r.ReasoningTokens}, {FieldMediaTokens, &r.MediaTokens}, {FieldMaxTokens, &r.MaxTokens}} {
		v := b.count(n.f, maxTokens)
		*n.to = trace.Opt[int32]{V: int32(v.V), OK: v.OK}
	}
	n := b.count(FieldN, math.MaxInt16)
	r.N = trace.Opt[int16]{V: int16(n.V), OK: n.OK}
}

func (b *builder) count(f Field, limit int64) trace.Opt[int64] {
	c, _, ok := b.cell(f)
	if !ok {
		return trace.Opt[int64]{}
	}
	var v int64
	var wrong string
	if whole, isInt := int64Of(c); isInt {
		v, wrong = checkCount(whole, limit)
	} else if s, _, ok := b.get(f); ok {
		v, wrong = parseCount(s, limit)
	} else {
		return trace.Opt[int64]{}
	}
	if wrong != "" {
		b.fail(badField(BadNumber, f, wrong))
	}
	return trace.Opt[int64]{V: v, OK: wrong == ""}
}

func int64Of(c cell) (int64, bool) {
	if c.node == nil || c.node.Type() != fastjson.TypeNumber {
		return 0, false
	}
	v, err := c.node.Int64()
	return v, err == nil
}

// blocks reads a list of ids, in JSON or as numbers between blanks, commas or
// semicolons.
func (b *builder) blocks(r *Record) {
	c, _, ok := b.cell(FieldBlocks)
	if !ok {
		return
	}
	r.BlockTokens = b.mapping.BlockTokens
	if c.node == nil {
		for item := range strings.FieldsFuncSeq(strings.Trim(c.text, "[] "), func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
			b.block(r, item)
		}
		return
	}
	list, err := c.node.Array()
	if err != nil {
		b.fail(badField(BadBlocks, FieldBlocks, "is no list"))
		return
	}
	r.Blocks = make([]int64, 0, len(list))
	for _, v := range list {
		id, err := v.Int64()
		if err != nil || id < 0 {
			b.fail(badField(BadBlocks, FieldBlocks, "has an entry that is no whole number"))
			return
		}
		r.Blocks = append(r.Blocks, id)
	}
}

func (b *builder) block(r *Record, item string) {
	id, wrong := parseCount(item, math.MaxInt64)
	if wrong != "" {
		b.fail(badField(BadBlocks, FieldBlocks, "has an entry that is no whole number"))
		return
	}
	r.Blocks = append(r.Blocks, id)
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
