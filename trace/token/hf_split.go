package token

import (
	"strings"

	"reprise/trace/token/class"
	"reprise/trace/token/regex"
)

// span is a match of a pattern: text[start:end].
type span struct{ start, end int }

// stringSpans appends the places of sep.
func stringSpans(dst []span, sep, text string) []span {
	for i := 0; ; {
		n := strings.Index(text[i:], sep)
		if n < 0 {
			return dst
		}
		dst = append(dst, span{i + n, i + n + len(sep)})
		i += n + len(sep)
	}
}

// patternSpans appends the matches of a pattern.
func patternSpans(dst []span, re *regex.Regex, text string) []span {
	for start, end := range re.All(text) {
		dst = append(dst, span{start, end})
	}
	return dst
}

// digitSpans appends the places of numbers, each character by itself.
func digitSpans(dst []span, t *class.Table, text string) []span {
	for i := 0; i < len(text); {
		c, size := t.At(text, i)
		if c == class.Digit {
			dst = append(dst, span{i, i + size})
		}
		i += size
	}
	return dst
}

// part is a match or what lies between two.
type part struct {
	span
	match bool
}

// splitStage cuts where match matches, as the behaviors of Split in
// huggingface/tokenizers do (NormalizedString::split).
func splitStage(match func(dst []span, text string) []span, behavior string, invert bool) stage {
	return func(dst []cutPiece, piece cutPiece) []cutPiece {
		spans := match(nil, piece.text)
		if len(spans) == 0 && !(behavior == "Removed" && invert) {
			return append(dst, piece)
		}
		parts := alternate(spans, len(piece.text), invert)
		switch behavior {
		case "Removed":
			for _, p := range parts {
				if !p.match {
					dst = appendPart(dst, piece, p)
				}
			}
			return dst
		case "Contiguous":
			parts = mergeParts(parts, func(p part, before bool) bool { return p.match == before })
		case "MergedWithPrevious":
			parts = mergeParts(parts, func(p part, before bool) bool { return p.match && !before })
		case "MergedWithNext":
			return appendMergedWithNext(dst, piece, parts)
		}
		for _, p := range parts {
			dst = appendPart(dst, piece, p)
		}
		return dst
	}
}

func appendPart(dst []cutPiece, piece cutPiece, p part) []cutPiece {
	if p.start == p.end {
		return dst
	}
	return append(dst, piece.sub(p.span))
}

func (p cutPiece) sub(s span) cutPiece {
	return cutPiece{p.text[s.start:s.end], p.first && s.start == 0}
}

// alternate returns matches and what lies between, in order.
func alternate(spans []span, size int, invert bool) []part {
	parts := make([]part, 0, 2*len(spans)+1)
	at := 0
	for _, s := range spans {
		if at < s.start {
			parts = append(parts, part{span{at, s.start}, invert})
		}
		parts = append(parts, part{s, !invert})
		at = s.end
	}
	if at < size {
		parts = append(parts, part{span{at, size}, invert})
	}
	return parts
}

// mergeParts joins each part to the one before it where with says so; before
// tells whether that one was a match.
func mergeParts(parts []part, with func(p part, before bool) bool) []part {
	out := parts[:0]
	before := false
	for _, p := range parts {
		if with(p, before) && len(out) > 0 {
			out[len(out)-1].end = p.end
		} else {
			out = append(out, p)
		}
		before = p.match
	}
	return out
}

// appendMergedWithNext joins each match to what follows it, from the end on: of
// several matches in a row only the last is joined.
func appendMergedWithNext(dst []cutPiece, piece cutPiece, parts []part) []cutPiece {
	after := false
	for i := len(parts) - 1; i >= 0; i-- {
		is := parts[i].match
		if is && !after && i+1 < len(parts) {
			parts[i+1].start = parts[i].start
			parts[i].end = parts[i].start
		}
		after = is
	}
	for _, p := range parts {
		dst = appendPart(dst, piece, p)
	}
	return dst
}
