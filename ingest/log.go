package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"

	"reprise/ingest/loglines"
	"reprise/ingest/rows"
	"reprise/ingest/shape"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
	"reprise/trace"
)

// maxSources is how many files are listed one by one. Of more, the digests in
// their order are digested, and the sizes added up.
const maxSources = 1000

// Sources returns size and digest of the files, complete once the records have
// been read to their end.
func (l *Log) Sources() []trace.Source {
	if len(l.sources) <= maxSources {
		return append([]trace.Source(nil), l.sources...)
	}
	h := sha256.New()
	var all trace.Source
	for _, s := range l.sources {
		io.WriteString(h, s.SHA256)
		all.Bytes += s.Bytes
	}
	all.SHA256 = hex.EncodeToString(h.Sum(nil))
	return []trace.Source{all}
}

// Records yields the rows of all inputs in order. It can be ranged over once.
func (l *Log) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if l.used {
			yield(Record{}, errors.New("the records of a log can be read only once"))
			return
		}
		l.used = true
		defer l.drop()
		for i := range l.files {
			if !l.file(i, yield) {
				return
			}
		}
		if !l.flush(yield) {
			return
		}
		if len(l.taken) == 0 {
			yield(Record{}, errors.New("no file of the inputs is a log that can be read"))
		}
	}
}

// file yields the rows of one input and reports whether to go on.
func (l *Log) file(i int, yield func(Record, error) bool) bool {
	in := l.files[i]
	if l.looked[in.Path].skip {
		return true
	}
	s, open := l.held[i]
	if !open {
		var err error
		if s, err = l.source(in.Path, l.progress); err != nil {
			return l.lose(in, err, yield)
		}
		defer s.Drop()
	}
	var more bool
	if kind := s.Archive(); kind != nil {
		more = l.inside(s, kind, yield)
	} else {
		more = l.text(s, in.Named, yield)
	}
	if !more {
		return false
	}
	whole, err := s.Finish()
	if err != nil {
		yield(Record{}, err)
		return false
	}
	l.sources = append(l.sources, whole)
	return true
}

// lose ends the log at an input that was named, and leaves out one that was
// found.
func (l *Log) lose(in source.Input, err error, yield func(Record, error) bool) bool {
	if in.Named || source.IsBomb(err) || l.ctx.Err() != nil {
		yield(Record{}, err)
		return false
	}
	l.leave(in.Path, err)
	return true
}

// text yields the rows of one file, or of an entry of an archive.
func (l *Log) text(s *source.Source, named bool, yield func(Record, error) bool) bool {
	k, err := l.lookAt(s)
	if err != nil {
		return l.lose(source.Input{Path: s.Name, Named: named}, err, yield)
	}
	from, err := k.container.start(s)
	if err != nil {
		return l.lose(source.Input{Path: s.Name, Named: named}, s.Locate(err), yield)
	}
	inner := from
	if r, ok := inner.(rows.Closer); ok {
		defer r.Close()
	}
	if from, err = shape.Of(from, k.taken.shaper, l.lastOf(s)); err != nil {
		return l.lose(source.Input{Path: s.Name, Named: named}, s.Locate(err), yield)
	}
	last, more, err := l.rows(from, k.taken, yield)
	switch {
	case !more:
		return false
	case err == nil:
		l.ended(s, inner)
		return true
	}
	if err = s.Locate(err); !source.IsBroken(err) { // cancelled, a bomb, or the disk failed
		yield(Record{}, err)
		return false
	}
	l.skip(s.Name, err.Error(), true)
	row := rows.Bad(rows.CutShort, "what follows cannot be read")
	row.Pos = after(last, s.Name)
	return yield(Record{Pos: row.Pos}, row)
}

// ended counts a file as whole, unless its rows know better.
func (l *Log) ended(s *source.Source, from rows.Reader) {
	if r, ok := from.(rows.Damager); ok && r.Damage() != nil {
		l.skip(s.Name, r.Damage().Error(), true)
		return
	}
	if r, ok := from.(*loglines.Reader); ok {
		l.notes.other += r.Others()
	}
	l.whole++
}

// after is the position behind a row, as near as it can be told.
func after(last rows.Pos, file string) rows.Pos {
	p := rows.Pos{File: file, Item: last.Item + 1, Byte: last.Byte}
	if last.Line > 0 || last.Item == 0 {
		p.Line = last.Line + 1
	}
	return p
}

// rows yields until the file ends; err is what ended it too early, last the
// position of the last row before that.
func (l *Log) rows(from rows.Reader, t *taken, yield func(Record, error) bool) (last rows.Pos, more bool, err error) {
	b := l.builder(t)
	defer l.learn(b)
	hand := l.hand(t, b, yield)
	if chunked, ok := from.(textfile.Chunked); ok {
		return l.spread(chunked, t, hand)
	}
	if planned, ok := from.(rows.Binder); ok {
		planned.Bind(b.read.first())
	}
	bytes, _ := from.(textfile.Checked)
	for {
		pos, err := from.Next()
		if source.IsEnd(err) {
			return last, hand.end(), nil
		}
		var row *rows.Error
		if err != nil && !errors.As(err, &row) {
			return last, hand.end(), err
		}
		last = pos
		if row == nil && bytes != nil && !bytes.ValidText() {
			b.notes.text.add(pos)
		}
		if row == nil {
			row = from.Fill(b.read.first())
		}
		if row == nil {
			more = b.each(pos, hand.take)
		} else {
			row.Pos = pos
			more = hand.take(nil, row)
		}
		if !more {
			return last, false, nil
		}
	}
}

// builder makes a builder for a file of a source.
func (l *Log) builder(t *taken) *builder {
	b := newBuilder(t.mapping, l.in.Zone)
	b.votes = t.votes
	if l.in.Map != nil {
		b.read.flat(t.columns)
		for _, f := range l.in.Map.fields() {
			if !t.columns.hasAny(l.in.Map.Fields[f]) {
				b.late = append(b.late, f)
			}
		}
	}
	return b
}

// flush yields the requests that waited for rows of another file. It reports
// whether to go on.
func (l *Log) flush(yield func(Record, error) bool) bool {
	for _, t := range l.taken {
		if t.shaper == nil {
			continue
		}
		_, more, err := l.rows(shape.Rest(t.shaper), t, yield)
		if err != nil {
			return yield(Record{}, err)
		}
		if !more {
			return false
		}
	}
	return true
}
