package ingest

import (
	"reprise/ingest/rows"
	"reprise/ingest/textfile"
)

// job is a chunk of rows and the records that are made of them.
type job struct {
	textfile.Chunk
	out  []made
	odd  []rows.Pos // of rows in whose bytes something is not UTF-8
	done chan struct{}
}

// made is a record, or what is wrong with the row in its place.
type made struct {
	record Record
	bad    *rows.Error
}

// worker makes records of the rows of chunks.
type worker struct {
	build  *builder
	parser textfile.Parser
	covers bool // records are counted by field
}

// rows calls do with the records of a chunk's rows, and with what is wrong where
// there is none. A record is valid until do returns. It reports whether to go on.
func (w *worker) rows(c *job, do func(*Record, *rows.Error) bool) bool {
	c.Freeze()
	each := func(r *Record, bad *rows.Error) bool {
		if bad == nil && w.covers && r.Rule == "" {
			w.build.cover(r)
		}
		return do(r, bad)
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		e := row.Bad
		if e == nil {
			e = w.parser.Parse(&c.Chunk, i)
		}
		if e == nil {
			if !w.parser.ValidText() {
				c.odd = append(c.odd, row.Pos)
			}
			e = w.parser.Fill(w.build.read.first())
		}
		var more bool
		if e == nil {
			more = w.build.each(row.Pos, each)
		} else {
			e.Pos = row.Pos
			more = do(nil, e)
		}
		if !more {
			return false
		}
	}
	return true
}

// work makes all records of a chunk.
func (w *worker) work(c *job) {
	w.rows(c, func(r *Record, bad *rows.Error) bool {
		if bad != nil {
			c.out = append(c.out, made{bad: bad})
		} else {
			c.out = append(c.out, made{record: *r})
		}
		return true
	})
}
