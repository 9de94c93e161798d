package ingest

import (
	"fmt"
	"strings"

	"reprise/ingest/rows"
)

// badText counts rows in whose bytes something is not UTF-8, and keeps where the
// first ones stand. Such bytes become U+FFFD, each, and so count as a character.
type badText struct {
	n     int64
	first []rows.Pos
}

const firstBadText = 3

func (b *badText) add(at rows.Pos) {
	if b.n++; len(b.first) < firstBadText {
		b.first = append(b.first, at)
	}
}

// merge adds the rows of a later file.
func (b *badText) merge(o badText) {
	b.n += o.n
	b.first = append(b.first, o.first[:min(len(o.first), firstBadText-len(b.first))]...)
}

func (b *badText) line() string {
	var at []string
	for _, p := range b.first {
		at = append(at, p.String())
	}
	return fmt.Sprintf("%d rows have bytes that are not UTF-8, which became U+FFFD: first at %s", b.n, strings.Join(at, ", "))
}
