package ingest

import (
	"io"

	"reprise/ingest/loglines"
	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// lineSets are the kinds of line of the known sources, and of the user's own
// mapping before them.
func lineSets(known []schema, own *Mapping) []*loglines.Set {
	var out []*loglines.Set
	if own != nil && own.file != nil {
		known = append([]schema{*own.file}, known...)
	}
	for i := range known {
		if set := known[i].mapping.shape.LineSet(); set != nil {
			out = append(out, set)
		}
	}
	return out
}

// textContainer is the container of a text log, when a set knows lines of it.
func textContainer(s *source.Source, sets []*loglines.Set, head []byte) (container, bool) {
	if len(sets) == 0 || len(head) == 0 {
		return container{}, false
	}
	size := 1 << 20 // servers say much before the first request
	if head[0] == '{' || head[0] == '[' {
		size = 256 << 10
	}
	set := loglines.Sniff(s.Peek(size), sets)
	if set == nil {
		return container{}, false
	}
	return container{name: "text lines", open: func(s *source.Source, r io.Reader) (rows.Reader, error) { return loglines.Open(s, r, set), nil }}, true
}
