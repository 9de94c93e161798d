package columnar

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetColumn walks the values of one column of a row group, row by row.
type parquetColumn struct {
	leaf  *parquetNode
	pages parquet.Pages
	page  parquet.Page
	from  parquet.ValueReader
	buf   []parquet.Value
	i     int
	row   []parquet.Value // of the current row, valid until next
	at    int             // the next one to be taken out of row
}

func (c *parquetColumn) open(chunk parquet.ColumnChunk) {
	c.pages = chunk.Pages()
	c.buf = c.buf[:0]
	c.i = 0
}

func (c *parquetColumn) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		c.pages.Close()
	}
	c.page, c.from, c.pages = nil, nil, nil
	c.buf, c.row = c.buf[:0], c.row[:0]
}

// next gathers the values of the next row: one, or in a repeated column as many
// as follow until a repetition level of 0.
func (c *parquetColumn) next() error {
	c.at = 0
	c.row = c.row[:0]
	for {
		if c.i == len(c.buf) {
			switch err := c.more(); {
			case errors.Is(err, io.EOF) && len(c.row) > 0:
				return nil
			case errors.Is(err, io.EOF):
				return io.ErrUnexpectedEOF // the group says that there is a row
			case err != nil:
				return err
			}
		}
		v := c.buf[c.i]
		if v.RepetitionLevel() == 0 && len(c.row) > 0 {
			return nil
		}
		if v.RepetitionLevel() > c.leaf.maxRep || v.DefinitionLevel() > c.leaf.maxDef {
			return errors.New("levels are out of range")
		}
		if len(c.row) == maxValues {
			return errors.New("a row has too many values")
		}
		c.row = append(c.row, v)
		c.i++
		if c.leaf.maxRep == 0 {
			return nil
		}
	}
}

// more reads values into buf, from the next page where one ends.
func (c *parquetColumn) more() error {
	if cap(c.buf) == 0 {
		c.buf = make([]parquet.Value, 0, 256)
	}
	for {
		if c.from == nil {
			if err := c.turn(); err != nil {
				return err
			}
		}
		n, err := c.from.ReadValues(c.buf[:cap(c.buf)])
		if err != nil {
			c.from = nil
		}
		if n > 0 {
			c.buf, c.i = c.buf[:n], 0
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// turn goes to the next page. The values of an unfinished row are copied out of
// the page before.
func (c *parquetColumn) turn() error {
	for i := range c.row {
		c.row[i] = c.row[i].Clone()
	}
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	page, err := c.pages.ReadPage()
	if err != nil {
		return err
	}
	c.page, c.from = page, page.Values()
	return nil
}

// take is the next value of the current row.
func (c *parquetColumn) take() parquet.Value {
	v := c.row[c.at] // beyond the end: damage, recovered in parquetFile.row
	c.at++
	return v
}

// level is the definition level of the next value.
func (c *parquetColumn) level() int { return c.row[c.at].DefinitionLevel() }

// again reports whether the next value repeats at a level.
func (c *parquetColumn) again(level int) bool {
	return c.at < len(c.row) && c.row[c.at].RepetitionLevel() == level
}
