package table

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// pageValues is how many values of a column are decoded at a time.
const pageValues = 4096

// Chunks yields the rows of one row group after another with only the named
// columns filled in, read column by column: many times as fast as Rows. The
// slice and the lists in it are used again for the next group. An error ends the
// sequence.
func (f *File[T]) Chunks(columns ...string) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		c := chunker[T]{values: make([]parquet.Value, pageValues)}
		for _, name := range columns {
			i := slices.IndexFunc(f.table.columns, func(c Column[T]) bool { return c.name == name })
			if i < 0 {
				yield(nil, fmt.Errorf("%s has no column %q", f.table.name, name))
				return
			}
			c.columns = append(c.columns, i)
		}
		done := int64(0)
		for _, group := range f.in.RowGroups() {
			err := c.read(f.table, group)
			if err != nil {
				err = fmt.Errorf("rows from %d: %w", done, err)
			}
			if !yield(c.rows, err) || err != nil {
				return
			}
			done += int64(len(c.rows))
		}
	}
}

// Values is the number of values that a column holds in all, nulls included, as
// the footer states it.
func (f *File[T]) Values(column string) int64 {
	i := slices.IndexFunc(f.table.columns, func(c Column[T]) bool { return c.name == column })
	var n int64
	for _, group := range f.in.Metadata().RowGroups {
		if i >= 0 && i < len(group.Columns) {
			n += group.Columns[i].MetaData.NumValues
		}
	}
	return n
}

// chunker holds the rows of one group.
type chunker[T any] struct {
	columns []int
	rows    []T
	values  []parquet.Value
	items   []parquet.Value // of a list that goes on in the next batch of values
}

func (c *chunker[T]) read(t *Table[T], group parquet.RowGroup) (err error) {
	defer recovered(&err)
	n := group.NumRows()
	if n < 0 || n > 1<<24 {
		return errors.New("damaged Parquet file: a row group of impossible size")
	}
	if int64(cap(c.rows)) < n {
		c.rows = make([]T, n)
	}
	c.rows = c.rows[:n]
	clear(c.rows)
	chunks := group.ColumnChunks()
	for _, i := range c.columns {
		if err := c.column(&t.columns[i], chunks[i]); err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i].name, err)
		}
	}
	return nil
}

// column fills one column of the rows.
func (c *chunker[T]) column(col *Column[T], chunk parquet.ColumnChunk) error {
	pages := chunk.Pages()
	defer pages.Close()
	at := 0
	c.items = c.items[:0]
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		at, err = c.page(col, page, at)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
	if col.items != nil && len(c.items) > 0 {
		var err error
		if at, err = c.flush(col, at); err != nil {
			return err
		}
	}
	if at != len(c.rows) {
		return errors.New("damaged Parquet file: the column has other rows than the group")
	}
	return nil
}

func (c *chunker[T]) page(col *Column[T], page parquet.Page, at int) (int, error) {
	in := page.Values()
	for {
		n, err := in.ReadValues(c.values)
		var wrong error
		if col.items == nil {
			at, wrong = c.plain(col, c.values[:n], at)
		} else {
			at, wrong = c.lists(col, c.values[:n], at)
		}
		switch {
		case wrong != nil:
			return at, wrong
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		case n == 0:
			return at, errors.New("the page ends early")
		}
	}
}

// plain takes one value a row.
func (c *chunker[T]) plain(col *Column[T], vals []parquet.Value, at int) (int, error) {
	if len(vals) > len(c.rows)-at {
		return at, errors.New("damaged Parquet file: more values than rows")
	}
	rows := c.rows[at : at+len(vals)]
	for i := range vals {
		if err := col.get(&rows[i], vals[i:i+1]); err != nil {
			return at, err
		}
	}
	return at + len(vals), nil
}

// lists gathers the values of a row, which begin at repetition level 0.
func (c *chunker[T]) lists(col *Column[T], vals []parquet.Value, at int) (int, error) {
	for len(vals) > 0 {
		n := 0
		for n < len(vals) && (vals[n].RepetitionLevel() > 0 || n == 0 && len(c.items) == 0) {
			n++
		}
		c.items = append(c.items, vals[:n]...)
		if vals = vals[n:]; len(vals) > 0 {
			var err error
			if at, err = c.flush(col, at); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

func (c *chunker[T]) flush(col *Column[T], at int) (int, error) {
	if at >= len(c.rows) {
		return at, errors.New("damaged Parquet file: more lists than rows")
	}
	err := col.get(&c.rows[at], c.items)
	c.items = c.items[:0]
	return at + 1, err
}
