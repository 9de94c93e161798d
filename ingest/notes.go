package ingest

import (
	"fmt"
	"slices"
	"strings"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// Notes says what was assumed while reading, one line each.
func (l *Log) Notes() []string {
	var out []string
	zone := "UTC; give --timezone if the clock showed another"
	if l.in.Zone != nil {
		zone = l.in.Zone.String() + ", as --timezone says"
	}
	for _, n := range []struct {
		n    int64
		what string
	}{
		{l.notes.naive, "times have no zone and were read as " + zone},
		{l.notes.skipped, "times do not exist: the clock of " + zone + ", was put forward over them. They are read as if it had not been; is it the zone of the log?"},
		{l.notes.guessed, "times are small numbers and were read as seconds from the log's start; give the unit, as in --map arrival=column@ms, if they are not"},
		{l.notes.negative, "durations are negative and were left out"},
		{l.notes.other, "lines are none of the kinds that tell of requests: banners, statistics"},
		{l.notes.truncated, "prompts were cut by the log; they count by the log's own token counts and share no prefix"},
		{l.notes.redacted, "requests have a placeholder in the place of a text, which counts as absent"},
	} {
		if n.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if line := l.twiceLine(zone); line != "" {
		out = append(out, line)
	}
	if l.notes.text.n > 0 {
		out = append(out, l.notes.text.line())
	}
	out = append(out, l.notes.usage.Lines()...)
	out = append(out, l.missed()...)
	for _, t := range l.taken {
		if t.shaper != nil {
			for _, line := range t.shaper.Counts().Lines() {
				if len(l.taken) > 1 {
					line = t.Name + ": " + line
				}
				out = append(out, line)
			}
		}
	}
	return out
}

// Clock counts the times that are told by a zone's clock alone and may be others.
// It is complete once the records have been read.
func (l *Log) Clock() Clock {
	c := l.twice.told
	c.Untold += l.twice.waits
	return c
}

func (l *Log) twiceLine(zone string) string {
	c := l.Clock()
	if c.First+c.Second+c.Untold == 0 {
		return ""
	}
	line := fmt.Sprintf("%d requests are in an hour that the clock of %s, showed twice", c.First+c.Second+c.Untold, zone)
	if c.First+c.Second > 0 {
		line += fmt.Sprintf("; by the order of the rows %d are of the first time and %d of the second", c.First, c.Second)
	}
	if c.Untold > 0 {
		line += fmt.Sprintf("; nothing tells which for %d, which are taken as the first: the rate there is too high and that of the hour behind too low. Ask for times in UTC", c.Untold)
	}
	return line
}

// learn takes over what a file's builder counted.
func (l *Log) learn(b *builder) {
	l.notes.add(b.notes)
	for f, n := range b.covered {
		l.covered[f] += n
		l.met[f] += b.met[f]
	}
}

// hander gives the records of a file to whoever reads the log, those of spans
// by way of a nest.
type hander struct {
	builder *builder
	nest    *nest
	covered bool   // the records were counted by field before
	twice   *twice // nil where times name no other zone than UTC
	yield   func(Record, error) bool
}

func (l *Log) hand(t *taken, b *builder, yield func(Record, error) bool) *hander {
	h := &hander{builder: b, yield: yield}
	if l.in.Zone != nil {
		h.twice = &l.twice
	}
	if len(t.mapping.Fields[FieldParentSpan]) > 0 {
		h.nest = newNest()
	}
	return h
}

func (h *hander) take(r *Record, bad *rows.Error) bool {
	switch {
	case bad != nil:
		return h.yield(Record{Pos: bad.Pos}, bad)
	case h.nest != nil:
		return h.nest.push(*r, func(r Record) bool { return h.give(&r) })
	}
	return h.give(r)
}

func (h *hander) give(r *Record) bool {
	if h.twice != nil {
		h.twice.take(r)
	}
	if r.Rule == "" && !h.covered {
		h.builder.cover(r)
	}
	return h.yield(*r, nil)
}

// end hands on what waits.
func (h *hander) end() bool {
	return h.nest == nil || h.nest.flush(func(r Record) bool { return h.give(&r) })
}

// lastOf reports whether no input follows the one that s is read from. An
// archive's entries are not known ahead, so none of them is the last.
func (l *Log) lastOf(s *source.Source) bool {
	return len(l.files) == 0 || l.files[len(l.files)-1].Path == s.Name || (len(l.files) == 1 && s.Name == "stdin")
}

// ignores says that the mapping leaves a column out on purpose, or one above it.
func (m *Mapping) ignores(name string) bool {
	return slices.ContainsFunc(m.ignore, func(i string) bool {
		return i == name || strings.HasPrefix(name, i+".")
	})
}

// covers reports whether the column of that name, or one above it, is read.
func (r *reading) covers(name string) bool {
	level, rest := r.level(name)
	return r.levels[level].Covers(rest)
}
