package columnar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// IsParquet takes a Parquet file by its first bytes.
func IsParquet(head []byte) bool { return string(head[:min(len(head), 4)]) == "PAR1" }

const (
	maxFooter  = 128 << 20 // bytes of a file's footer
	maxFacts   = 4 << 20   // entries of lists in it: columns times row groups
	maxColumns = 100_000
	ownKey     = "reprise" // of the footer of a trace
)

// parquetFile reads the rows of a Parquet file, one row group after the other
// and one page of each mapped column at a time. A row group that cannot be read
// costs its own rows, each counted.
type parquetFile struct {
	scribe
	name    string
	file    *parquet.File
	at      *pagedReader
	root    *parquetNode
	parts   []partition
	groups  []parquet.RowGroup
	group   int              // number of the next one
	columns []*parquetColumn // those that are read
	left    int64            // rows of the group that were not read
	lost    int64            // rows of the group that cannot be
	items   int64
	broken  error
}

// OpenParquet opens a Parquet file for reading it row by row. One that says in its
// footer that it is a trace is refused.
func OpenParquet(s *source.Source) (rows.Reader, error) {
	r, size, err := s.File()
	if err != nil {
		return nil, err
	}
	return readParquet(s.Context(), s.Name, r, size)
}

func readParquet(ctx context.Context, name string, r io.ReaderAt, size int64) (*parquetFile, error) {
	p := &parquetFile{name: name, at: &pagedReader{ctx: ctx, r: r}, parts: partitionsOf(name)}
	if err := p.openFile(size); err != nil {
		return nil, err
	}
	p.use(func(*parquetNode) bool { return true })
	return p, nil
}

// source.Open reads the footer. The library trusts what stands there and panics when it
// is wrong.
func (p *parquetFile) openFile(size int64) (err error) {
	defer recovered(&err)
	var tail [8]byte
	if size < 12 {
		return source.Damaged("the Parquet file is cut short at byte %d; fetch it again", size)
	}
	if _, err := p.at.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(tail[4:]) == "PARE":
		return errors.New("is an encrypted Parquet file; export it without encryption")
	case string(tail[4:]) != "PAR1":
		return source.Damaged("the Parquet file has no footer at its end: it is cut short at byte %d, or was not closed by its writer; fetch it again", size)
	case footer > size-12 || footer > maxFooter:
		return source.Damaged("the Parquet file's footer is damaged; fetch it again")
	}
	meta := make([]byte, footer)
	if _, err := p.at.ReadAt(meta, size-8-footer); err != nil {
		return err
	}
	if _, err := thriftStruct(meta, maxFacts); err != nil {
		return source.Damaged("the Parquet file's footer cannot be read (%s)", oneLine(err))
	}
	p.file, err = parquet.OpenFile(p.at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(256<<10))
	if err != nil {
		return p.at.or(source.Damaged("the Parquet file's footer cannot be read (%s)", oneLine(err)))
	}
	if _, own := p.file.Lookup(ownKey); own {
		return fmt.Errorf("%s: is a trace already and no log; reprise show says what is in it", p.name)
	}
	p.groups = p.file.RowGroups()
	p.root, err = parquetTree(p.file.Metadata().Schema)
	if err == nil {
		p.parts = slices.DeleteFunc(p.parts, func(part partition) bool {
			return slices.ContainsFunc(p.root.children, func(n *parquetNode) bool { return n.name == part.name })
		})
	}
	return err
}

// recovered turns a panic into damage.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = source.Damaged("the file's structure is damaged")
	}
}

// Bind leaves only the columns that are mapped.
func (p *parquetFile) Bind(plan *rows.Plan) {
	p.use(func(n *parquetNode) bool { return n.keep(plan.Root()) })
}

// use chooses the top columns. Of a file in which none is wanted the first is
// read, for the number of rows.
func (p *parquetFile) use(want func(*parquetNode) bool) {
	p.columns = nil
	for _, n := range p.root.children {
		n.used = want(n)
	}
	leaves := p.root.leaves(nil)
	if len(leaves) == 0 && len(p.root.all) > 0 {
		leaves = p.root.all[:1]
	}
	for _, n := range leaves {
		n.column = &parquetColumn{leaf: n}
		p.columns = append(p.columns, n.column)
	}
}

func (p *parquetFile) Next() (pos rows.Pos, err error) {
	for {
		if p.at.err != nil {
			return rows.Pos{}, p.at.err
		}
		if p.lost > 0 {
			p.lost--
			p.items++
			return p.pos(), rows.Bad(rows.CutShort, "its row group cannot be read")
		}
		if p.left > 0 {
			p.left--
			p.items++
			err := p.row()
			if err == nil {
				if e := p.parse(); e != nil {
					return p.pos(), e
				}
				return p.pos(), nil
			}
			if err != nil {
				if p.at.err != nil {
					return rows.Pos{}, p.at.err
				}
				p.broken = source.Damaged("%s: the row group with row %d is damaged (%s)", p.name, p.items, oneLine(err))
				p.lost, p.left = p.left, 0
				p.leave()
				return p.pos(), rows.Bad(rows.CutShort, "its row group cannot be read")
			}
			return p.pos(), nil
		}
		p.leave()
		if p.group == len(p.groups) {
			return rows.Pos{}, io.EOF
		}
		p.start(p.groups[p.group])
		p.group++
	}
}

// maxLost is how many rows of a group are counted one by one when it cannot be
// read; a damaged footer may claim any number.
const maxLost = 1 << 22

// start opens the columns of a row group.
func (p *parquetFile) start(g parquet.RowGroup) {
	p.left = g.NumRows()
	p.at.patches, p.at.found = p.at.patches[:0], p.at.found[:0]
	err := func() (err error) {
		defer recovered(&err)
		chunks := g.ColumnChunks()
		meta := p.file.Metadata().RowGroups[p.group].Columns
		for _, c := range p.columns {
			if c.leaf.index >= len(chunks) || c.leaf.index >= len(meta) {
				return errors.New("a column is missing")
			}
			if err := checkPages(p.at, &meta[c.leaf.index].MetaData); err != nil {
				return err
			}
			c.open(chunks[c.leaf.index])
		}
		p.at.sortPatches()
		return nil
	}()
	if p.left < 0 || len(p.columns) == 0 {
		p.left, err = 0, errors.New("it claims rows without columns")
	}
	if err != nil {
		p.broken = source.Damaged("%s: row group %d is damaged (%s)", p.name, p.group+1, oneLine(err))
		p.lost, p.left = min(p.left, maxLost), 0
	}
}

// row assembles the next row from the columns.
func (p *parquetFile) row() (err error) {
	defer recovered(&err)
	p.reset()
	for _, c := range p.columns {
		if err := c.next(); err != nil {
			return err
		}
	}
	p.open('{')
	p.fields(p.root)
	p.addPartitions(p.parts)
	p.shut('}')
	for _, c := range p.columns {
		if p.root.read > 0 && c.at != len(c.row) {
			return errors.New("repetition levels do not fit")
		}
	}
	return nil
}

func (p *parquetFile) pos() rows.Pos { return rows.Pos{File: p.name, Item: p.items} }

func (p *parquetFile) leave() {
	for _, c := range p.columns {
		c.close()
	}
	p.lost = min(p.lost, maxLost)
}

func (p *parquetFile) Close() { p.leave() }

// Damage is what was wrong with a file that was read as far as it could be.
func (p *parquetFile) Damage() error { return p.broken }

func (p *parquetFile) Current() *fastjson.Value { return p.value }

func (p *parquetFile) Names(add func(string)) {
	if p.value == nil {
		for _, n := range p.root.children {
			add(n.name)
		}
		return
	}
	notation.Names(p.value, add)
}

func (p *parquetFile) Fill(plan *rows.Plan) *rows.Error {
	return plan.Take(p.value)
}

// pagedReader counts what is read, stops when the context ends and remembers a
// failure of the disk, which the library wraps.
type pagedReader struct {
	ctx context.Context
	r   io.ReaderAt
	n   int64
	err error

	patches []patch // in order of place
	found   []patch // those of the next row group, in any order
}

func (r *pagedReader) ReadAt(b []byte, off int64) (int, error) {
	if r.err = r.ctx.Err(); r.err != nil {
		return 0, r.err
	}
	if off < 0 {
		return 0, errors.New("a place before the file's start")
	}
	n, err := r.r.ReadAt(b, off)
	r.n += int64(n)
	if len(r.patches) > 0 {
		r.applyPatches(b[:n], off)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = source.DiskFailed(err)
		err = r.err
	}
	return n, err
}

// or is the disk's failure, when there was one, and err otherwise.
func (r *pagedReader) or(err error) error {
	if r.err != nil {
		return r.err
	}
	return err
}

// oneLine is a library's message, short enough to be printed. It may name a
// column but no value.
func oneLine(err error) string {
	s := fmt.Sprint(err)
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || i == 120 {
			return s[:i]
		}
	}
	return s
}
