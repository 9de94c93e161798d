package ingest

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/scalar"
	"reprise/ingest/usage"
	"reprise/trace"
)

// maxInstant is the last relative time that is believed: 30 years in µs.
const maxInstant = 1e15

// builder makes a Record of the plan's cells. The first thing that is wrong is
// kept in bad and ends the row.
type builder struct {
	read     *reading
	mapping  *Mapping
	zone     *localTime  // of times without one; nil for UTC
	votes    usage.Votes // what the first rows showed
	learning usage.Votes // where they are being counted, else nil
	bad      *rows.Error
	scratch  []byte
	record   Record // that is being built
	notes    notes
	covered  [numFields]int64 // records that have the field
	late     []Field          // of the user's, in none of the first rows
	met      [numFields]int64 // rows that have one of those
}

// notes counts what was assumed.
type notes struct {
	naive, guessed, negative int64
	skipped                  int64 // times that the zone's clock did not show
	truncated, redacted      int64
	other                    int64 // lines of text logs that are no rows
	usage                    usage.Notes
	text                     badText
}

func (n *notes) add(o notes) {
	n.naive += o.naive
	n.skipped += o.skipped
	n.guessed += o.guessed
	n.negative += o.negative
	n.truncated += o.truncated
	n.redacted += o.redacted
	n.usage.Add(o.usage)
	n.text.merge(o.text)
}

func newBuilder(m *Mapping, zone *time.Location) *builder {
	b := &builder{read: newReading(m), mapping: m}
	if zone != nil {
		b.zone = &localTime{zone: zone}
	}
	return b
}

// merge takes over what another builder counted.
func (b *builder) merge(o *builder) {
	b.notes.add(o.notes)
	for f, n := range o.covered {
		b.covered[f] += n
		b.met[f] += o.met[f]
	}
}

// each builds the records of the row that was filled in: one, or as many as it
// explodes to. A record is valid until do returns; there is none with an error.
// It reports whether to go on.
func (b *builder) each(pos rows.Pos, do func(*Record, *rows.Error) bool) bool {
	any, more := b.read.each(func(sub int64) bool {
		pos.Sub = sub
		return do(b.build(pos))
	})
	if !any && more {
		b.record = excluded(pos, NoRequest)
		return do(&b.record, nil)
	}
	return more
}

// build makes the record of the cells, valid until the next is made.
func (b *builder) build(pos rows.Pos) (*Record, *rows.Error) {
	b.bad = nil
	r := &b.record
	for _, f := range b.late {
		if _, _, ok := b.cell(f); ok {
			b.met[f]++
		}
	}
	if why := b.rule(); why != "" {
		*r = excluded(pos, why)
		r.Span, r.ParentSpan = b.name(FieldSpan), b.name(FieldParentSpan)
		return r, nil
	}
	*r = Record{Pos: pos}
	b.times(r)
	has := &b.read.has
	if has.names {
		b.names(r)
	}
	if has.prompt {
		b.prompt(r)
	}
	if has.answer {
		b.answer(r)
	}
	b.counts(r)
	if has.features {
		b.features(r)
	}
	if has.ending {
		b.ending(r)
	}
	if has.blocks {
		b.blocks(r)
	}
	if b.bad != nil && !r.OtherAPI { // what such calls take and give is not known here
		b.bad.Pos = pos
		return nil, b.bad
	}
	switch {
	case r.OtherAPI:
		r.Rule = NotGeneration
	case r.ProxyCache.V:
		r.Rule = ProxyCacheHit
	}
	return r, nil
}

// rule returns the first rule that keeps the row out.
func (b *builder) rule() Rule {
	for i := range b.read.rules {
		if r := &b.read.rules[i]; b.holds(&r.when) != r.keep {
			return r.why
		}
	}
	return ""
}

func (b *builder) holds(t *planTest) bool {
	return b.read.holds(t, func(c rows.Cell) string { s, _ := b.scalar(c); return s })
}

func (b *builder) fail(e *rows.Error) {
	if b.bad == nil {
		b.bad = e
	}
}

// cell returns the first column of a field that the row has a value in.
func (b *builder) cell(f Field) (rows.Cell, *planColumn, bool) {
	for i := range b.read.cols[f] {
		col := &b.read.cols[f][i]
		c := b.read.cell(col.at)
		if col.simple {
			if !c.Absent() {
				return c, col, true
			}
			continue
		}
		if col.when != nil && !b.holds(col.when) {
			continue
		}
		if col.col.Const == "" && c.Absent() {
			continue
		}
		if col.col.Values != nil || col.col.As == "present" || col.col.As == "length" {
			if _, ok := b.valueOf(c, col); !ok {
				continue
			}
		}
		return c, col, true
	}
	return rows.Cell{}, nil, false
}

// full is cell for lists, objects and texts: the first column that is not empty.
func (b *builder) full(f Field) (rows.Cell, *planColumn, bool) {
	for i := range b.read.cols[f] {
		col := &b.read.cols[f][i]
		c := b.read.cell(col.at)
		if full := !empty(c) && !c.Absent() || col.col.Const != ""; full && (col.when == nil || b.holds(col.when)) {
			return c, col, true
		}
	}
	return rows.Cell{}, nil, false
}

// valueOf is the text of a column's value, as the column says to read it.
func (b *builder) valueOf(c rows.Cell, col *planColumn) (string, bool) {
	if col.col.Const != "" {
		return col.col.Const, true
	}
	switch col.col.As {
	case "present":
		return "true", !empty(c)
	case "length":
		return b.length(c)
	}
	s, ok := b.scalar(c)
	if !ok || col.col.Values == nil {
		return s, ok
	}
	if v, ok := col.col.Values[strings.ToLower(s)]; ok {
		return v, true
	}
	v, ok := col.col.Values["*"]
	return v, ok
}

// length is how many elements a list has.
func (b *builder) length(c rows.Cell) (string, bool) {
	v := c.Value
	if v == nil || v.Type() == fastjson.TypeString {
		s, _ := b.scalar(c)
		v = b.read.first().Decode(s)
	}
	if v == nil || v.Type() != fastjson.TypeArray {
		return "", false
	}
	return strconv.Itoa(len(v.GetArray())), true
}

// scalar is the text of a string, number or bool.
func (b *builder) scalar(c rows.Cell) (string, bool) {
	if c.Value == nil {
		return c.Text, true
	}
	switch c.Value.Type() {
	case fastjson.TypeString:
		s, _ := c.Value.StringBytes()
		return string(s), true
	case fastjson.TypeNumber:
		b.scratch = c.Value.MarshalTo(b.scratch[:0])
		return string(b.scratch), true
	case fastjson.TypeTrue:
		return "true", true
	case fastjson.TypeFalse:
		return "false", true
	}
	return "", false
}

// get is the text of a field's first column that has one; void text counts as
// absent.
func (b *builder) get(f Field) (string, bool) {
	s, _, ok := b.getUnit(f)
	return s, ok
}

func (b *builder) getUnit(f Field) (s, unit string, ok bool) {
	odd := false
	for i := range b.read.cols[f] {
		col := &b.read.cols[f][i]
		c := b.read.cell(col.at)
		if c.Absent() && col.col.Const == "" || col.when != nil && !b.holds(col.when) {
			continue
		}
		if col.simple && c.Value == nil { // a table's cell
			if !void(c.Text) {
				return c.Text, col.unit, true
			}
			continue
		}
		s, scalar := b.valueOf(c, col)
		if !scalar {
			odd = odd || col.simple
			continue
		}
		if !void(s) {
			return s, col.unit, true
		}
	}
	if odd {
		b.fail(badField(rows.BadType, f, "is neither text nor number"))
	}
	return "", "", false
}

// void is what stands for no value in the text of the exporters.
func void(s string) bool {
	switch s {
	case "", "-", "None", "null", "NULL", `\N`, "UNSPECIFIED":
		return true
	}
	return false
}

func (b *builder) times(r *Record) {
	var relative, absolute bool
	for f := FieldArrival; f <= FieldEnd; f++ {
		if len(b.read.cols[f]) == 0 {
			continue
		}
		s, unit, ok := b.getUnit(f)
		if !ok {
			continue
		}
		st, ok := scalar.ParseTime(s, unit)
		if !ok || (st.Relative && st.Micros > maxInstant) {
			b.fail(badField(BadTime, f, scalar.UnreadableTime(s)))
			return
		}
		at := trace.Some(b.zoned(st, f, r))
		switch f {
		case FieldArrival:
			r.Arrival = at
		case FieldFirstToken:
			r.FirstToken = at
		default:
			r.End = at
		}
		relative, absolute = relative || st.Relative, absolute || !st.Relative
		b.note(st)
	}
	if relative && absolute {
		b.fail(rows.Bad(BadTime, "one time counts from 1970 and another from the log's start"))
	}
	r.Relative = relative
	r.shown.own.arrival = r.Arrival.OK
	if b.read.has.spans {
		b.spans(r)
	}
}

// zoned moves a time without a zone into the one that was given.
func (b *builder) zoned(st scalar.Time, f Field, r *Record) int64 {
	if !st.Naive || b.zone == nil {
		return st.Micros
	}
	at, later, skipped := b.zone.instant(st.Micros)
	if skipped {
		b.notes.skipped++
		r.shown.skipped = r.shown.skipped || f == FieldArrival || f == FieldEnd && !r.Arrival.OK
	}
	if later > 0 {
		s := &r.shown
		s.later = later
		s.arrival, s.first, s.end = s.arrival || f == FieldArrival, s.first || f == FieldFirstToken, s.end || f == FieldEnd
	}
	return at
}

func (b *builder) note(st scalar.Time) {
	if st.Naive {
		b.notes.naive++
	}
	if st.Guessed {
		b.notes.guessed++
	}
}

// spans reads durations, and works out times that the row does not give.
func (b *builder) spans(r *Record) {
	r.TTFT, r.Duration = b.span(FieldTTFT), b.span(FieldDuration)
	r.shown.own.ttft, r.shown.own.duration = r.TTFT.OK, r.Duration.OK
	r.derive()
}

// derive fills the time that follows from two others.
func (r *Record) derive() {
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

// span reads a duration. A negative one was measured by two clocks, or stands
// for none: it is left out.
func (b *builder) span(f Field) trace.Opt[int64] {
	s, unit, ok := b.getUnit(f)
	if !ok {
		return trace.Opt[int64]{}
	}
	us, wrong := scalar.ParseSpan(s, unit)
	if wrong == scalar.Negative {
		b.notes.negative++
		return trace.Opt[int64]{}
	}
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
		{FieldClient, &r.Client}, {FieldModel, &r.Model}, {FieldAdapter, &r.Adapter},
		{FieldRetryOf, &r.RetryOf}, {FieldSpan, &r.Span}, {FieldParentSpan, &r.ParentSpan}} {
		*n.to = b.name(n.f)
	}
}

// name is the text of a field, its own; empty for none.
func (b *builder) name(f Field) string {
	if len(b.read.cols[f]) == 0 {
		return ""
	}
	s, _ := b.get(f)
	return notation.String([]byte(s))
}

func int64Of(c rows.Cell) (int64, bool) {
	if c.Value == nil || c.Value.Type() != fastjson.TypeNumber {
		return 0, false
	}
	v, err := c.Value.Int64()
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
	if c.Value == nil {
		for item := range strings.FieldsFuncSeq(strings.Trim(c.Text, "[] "), func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
			b.block(r, item)
		}
		return
	}
	list, err := c.Value.Array()
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
	id, wrong := scalar.ParseCount(item, math.MaxInt64)
	if wrong != "" {
		b.fail(badField(BadBlocks, FieldBlocks, "has an entry that is no whole number"))
		return
	}
	r.Blocks = append(r.Blocks, id)
}
