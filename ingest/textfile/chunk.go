package textfile

import "reprise/ingest/rows"

// Chunk is some rows of a file as text, one behind the other, before anything
// is taken out of them.
type Chunk struct {
	Rows []Row
	Err  error // what ended the file behind the rows

	buf  []byte
	text string // the same, where rows are short; cells are parts of it
	cuts []span // in buf: the fields of rows that were cut when they were read
}

// Row is where a row's text is, or why it has none.
type Row struct {
	Pos rows.Pos
	Bad *rows.Error // nil when it has text

	at   span // in buf
	cuts span // in the chunk's cuts; empty for a row that is cut later
}

const (
	chunkRows  = 512       // a chunk is filled until it has so many rows
	chunkBytes = 256 << 10 // or bytes
	shortRow   = 1 << 10   // up to what size rows are copied whole into one string
)

// Chunked are rows that can be read as text first, and taken apart later, by
// several goroutines.
type Chunked interface {
	rows.Reader
	// Text adds the next row to a chunk. What is wrong with the row goes into the
	// chunk too; an error is the end of the file, or final.
	Text(c *Chunk) error
	// Parser takes the rows of chunks apart, for one goroutine.
	Parser() Parser
}

// Parser has one row of a chunk at a time.
type Parser interface {
	// Parse goes to a row that has text.
	Parse(c *Chunk, row int) *rows.Error
	// Fill is that of rows.Reader.
	Fill(p *rows.Plan) *rows.Error
	Checked
}

// Checked is rows that know whether the current one is UTF-8.
type Checked interface{ ValidText() bool }

// Counter is rows that know whether the current one has a number or a time, as
// the rows of a log have.
type Counter interface{ Counts() bool }

// Fill reads rows until the chunk is full or the file ends.
func (c *Chunk) Fill(from Chunked) {
	c.reset()
	for len(c.Rows) < chunkRows && len(c.buf) < chunkBytes && c.Err == nil {
		c.Err = from.Text(c)
	}
}

// Size is the bytes of the rows.
func (c *Chunk) Size() int { return len(c.buf) }

func (c *Chunk) reset() {
	if cap(c.buf) > 4*chunkBytes { // of a huge row
		c.buf = nil
	}
	c.buf, c.Rows, c.cuts, c.text, c.Err = c.buf[:0], c.Rows[:0], c.cuts[:0], "", nil
}

// Freeze makes one string of short rows. It is called when they are complete.
func (c *Chunk) Freeze() {
	if len(c.buf) <= shortRow*len(c.Rows) {
		c.text = string(c.buf)
	}
}
