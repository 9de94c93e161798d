package ingest

import (
	"reprise/ingest/rows"
)

// chunk is some rows of a file as text, one behind the other, before anything
// is taken out of them, and the records that are made of them.
type chunk struct {
	buf  []byte
	text string // the same, where rows are short; cells are parts of it
	rows []textRow
	cuts []span // in buf: the fields of rows that were cut when they were read
	err  error  // what ended the file behind the rows

	out  []made
	done chan struct{}
}

// textRow is where a row's text is, or why it has none.
type textRow struct {
	pos  rows.Pos
	at   span // in buf
	cuts span // in the chunk's cuts; empty for a row that is cut later
	bad  *rows.Error
	odd  bool // some of its bytes are no UTF-8
}

// made is a record, or what is wrong with the row in its place.
type made struct {
	record Record
	bad    *rows.Error
}

const (
	chunkRows  = 512       // a chunk is filled until it has so many rows
	chunkBytes = 256 << 10 // or bytes
	shortRow   = 1 << 10   // up to what size rows are copied whole into one string
)

// textRows are rows that can be read as text first, and taken apart later, by
// several goroutines.
type textRows interface {
	rows.Reader
	// text adds the next row to a chunk. What is wrong with the row goes into the
	// chunk too; an error is the end of the file, or final.
	text(c *chunk) error
	// parser takes the rows of chunks apart, for one goroutine.
	parser() rowParser
}

// rowParser has one row of a chunk at a time.
type rowParser interface {
	parse(c *chunk, row int) *rows.Error
	Fill(p *rows.Plan) *rows.Error
	validText() bool
}

// fill reads rows until the chunk is full or the file ends.
func (c *chunk) fill(from textRows) {
	c.reset()
	for len(c.rows) < chunkRows && len(c.buf) < chunkBytes && c.err == nil {
		c.err = from.text(c)
	}
}

func (c *chunk) reset() {
	if cap(c.buf) > 4*chunkBytes { // of a huge row
		c.buf = nil
	}
	c.buf, c.rows, c.cuts, c.text, c.err = c.buf[:0], c.rows[:0], c.cuts[:0], "", nil
}

// freeze makes one string of short rows. It is called when they are complete.
func (c *chunk) freeze() {
	if len(c.buf) <= shortRow*len(c.rows) {
		c.text = string(c.buf)
	}
}

// worker makes records of the rows of chunks.
type worker struct {
	build  *builder
	parser rowParser
	covers bool // records are counted by field
}

// rows calls do with the records of a chunk's rows, and with what is wrong where
// there is none. A record is valid until do returns. It reports whether to go on.
func (w *worker) rows(c *chunk, do func(*Record, *rows.Error) bool) bool {
	c.freeze()
	each := func(r *Record, bad *rows.Error) bool {
		if bad == nil && w.covers && r.Rule == "" {
			w.build.cover(r)
		}
		return do(r, bad)
	}
	for i := range c.rows {
		row := &c.rows[i]
		e := row.bad
		if e == nil {
			e = w.parser.parse(c, i)
		}
		if e == nil {
			row.odd = !w.parser.validText()
			e = w.parser.Fill(w.build.read.first())
		}
		var more bool
		if e == nil {
			more = w.build.each(row.pos, each)
		} else {
			e.Pos = row.pos
			more = do(nil, e)
		}
		if !more {
			return false
		}
	}
	return true
}

// work makes all records of a chunk.
func (w *worker) work(c *chunk) {
	w.rows(c, func(r *Record, bad *rows.Error) bool {
		if bad != nil {
			c.out = append(c.out, made{bad: bad})
		} else {
			c.out = append(c.out, made{record: *r})
		}
		return true
	})
}
