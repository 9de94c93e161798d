// Package table stores rows of one Go type in a Parquet file.
//
// A table is a list of typed columns (Int, OptInt, Enum, Ints …), each with an
// accessor into the row; the list gives the schema, the writer and a strict
// reader, so a format is written down once. Row groups hold at most 65,536
// rows; pages are zstd-compressed; integers and lists of integers are
// DELTA_BINARY_PACKED and strings dictionary-encoded, so that DuckDB, pandas
// and polars read the files without us.
//
// Reading is strict: a file whose columns differ from the table's in name,
// order, type or nullability is refused, and a damaged file is an error, never
// a panic. Rows that are yielded are the caller's to keep.
//
// The package knows nothing of what the columns mean.
package table

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// MaxRowGroup is the largest number of rows in a row group.
const MaxRowGroup = 65536

// createdBy is fixed, so that the same rows give the same bytes whatever
// library version a build carries in its build info.
const createdBy = "reprise"

// Table is a named list of columns over rows of type T.
type Table[T any] struct {
	name    string
	columns []Column[T]
	list    func(*T) int // items of a row's lists; nil when no column is a list
	schema  *parquet.Schema
}

// New builds a table. Column names must be distinct.
func New[T any](name string, columns ...Column[T]) *Table[T] {
	t := &Table[T]{name: name, columns: columns}
	for _, c := range columns {
		if c.items != nil {
			t.list = add(t.list, c.items)
		}
	}
	t.schema = parquet.NewSchema(name, newOrdered(columns))
	return t
}

func add[T any](a, b func(*T) int) func(*T) int {
	if a == nil {
		return b
	}
	return func(row *T) int { return a(row) + b(row) }
}

// Columns returns the column names in file order.
func (t *Table[T]) Columns() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// Cells returns the values of a row in the order of the columns: nil for null,
// a number, a bool, a string or a list of 32-bit integers.
func (t *Table[T]) Cells(row *T) []any {
	out := make([]any, len(t.columns))
	for i := range t.columns {
		out[i] = t.columns[i].cell(row)
	}
	return out
}

// ordered is a Parquet group that keeps its fields in the order given, which
// parquet.Group, a map, cannot.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func newOrdered[T any](columns []Column[T]) ordered {
	o := ordered{Group: parquet.Group{}}
	for _, c := range columns {
		o.Group[c.name] = c.node
		o.fields = append(o.fields, field{Node: c.node, name: c.name})
	}
	return o
}

func (o ordered) Fields() []parquet.Field { return o.fields }

type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(f.name))
}

// newZstd is a codec for one writer: the library's own is shared by the process,
// and a compressor that was made under a test's clock works nowhere else.
func newZstd() compress.Codec { return new(zstd.Codec) }

// Writer writes rows to one file. The file is complete only after Close. Rows
// are encoded column by column on another goroutine while the next ones come.
type Writer[T any] struct {
	table  *Table[T]
	out    *parquet.Writer
	group  *parquet.ConcurrentRowGroupWriter
	rows   []T // not encoded yet
	spare  []T
	items  int   // of lists in those rows
	n      int64 // rows of the group, those being encoded included
	busy   chan error
	values []parquet.Value // of one column, the encoding goroutine's own
}

// At most so many rows, and about so many items of lists, wait to be encoded.
const (
	chunkRows  = 4096
	stripRows  = 256 // that stay in the processor's cache while columns are taken out of them
	chunkItems = 1 << 20
)

// NewWriter starts a file on w.
func (t *Table[T]) NewWriter(w io.Writer) *Writer[T] {
	out := parquet.NewWriter(w, t.schema, &parquet.WriterConfig{
		CreatedBy:          createdBy,
		MaxRowsPerRowGroup: MaxRowGroup,
		DataPageStatistics: true,
		Compression:        newZstd(),
	})
	return &Writer[T]{table: t, out: out, group: out.BeginRowGroup()}
}

// Write adds one row. What the row refers to must stay as it is until Close.
func (w *Writer[T]) Write(row T) error {
	w.rows = append(w.rows, row)
	if list := w.table.list; list != nil {
		w.items += list(&w.rows[len(w.rows)-1])
	}
	if len(w.rows) < chunkRows && w.items < chunkItems && w.n+int64(len(w.rows)) < MaxRowGroup {
		return nil
	}
	return w.flush()
}

// wait waits for the rows that are being encoded.
func (w *Writer[T]) wait() error {
	if w.busy == nil {
		return nil
	}
	err := <-w.busy
	w.busy = nil
	if err != nil {
		return fmt.Errorf("writing %s: %w", w.table.name, err)
	}
	return nil
}

// flush hands the rows to the encoder, once that is done with those before.
func (w *Writer[T]) flush() error {
	if err := w.wait(); err != nil {
		return err
	}
	rows := w.rows
	w.n += int64(len(rows))
	full := w.n == MaxRowGroup
	if full {
		w.n = 0
	}
	w.busy = make(chan error, 1)
	w.rows, w.spare, w.items = w.spare[:0], rows, 0
	go func(done chan<- error) {
		err := w.encode(rows)
		if err == nil && full {
			_, err = w.group.Commit()
		}
		clear(rows)
		done <- err
	}(w.busy)
	return nil
}

// encode adds rows to the group.
func (w *Writer[T]) encode(rows []T) error {
	for strip := range slices.Chunk(rows, stripRows) {
		if err := w.strip(strip); err != nil {
			return err
		}
	}
	return nil
}

// strip encodes a few rows column by column.
func (w *Writer[T]) strip(rows []T) error {
	for i, column := range w.group.ColumnWriters() {
		w.values = w.table.columns[i].put(rows, w.values[:0])
		if _, err := column.WriteRowValues(w.values); err != nil {
			return err
		}
	}
	return nil
}

// Stop waits for the goroutine of a writer that will not be closed.
func (w *Writer[T]) Stop() { _ = w.wait() }

// SetMeta sets a key of the footer; it may be called until Close.
func (w *Writer[T]) SetMeta(key, value string) { w.out.SetKeyValueMetadata(key, value) }

// Close writes what is pending and the footer. It does not close the
// underlying writer.
func (w *Writer[T]) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.wait(); err != nil {
		return err
	}
	if w.n > 0 {
		if _, err := w.group.Commit(); err != nil {
			return fmt.Errorf("writing %s: %w", w.table.name, err)
		}
	}
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", w.table.name, err)
	}
	return nil
}

// File is an open table file.
type File[T any] struct {
	table *Table[T]
	in    *parquet.File
}

// Open reads the footer and checks that the columns are the table's. The
// reader must stay usable while rows are read.
func (t *Table[T]) Open(r io.ReaderAt, size int64) (f *File[T], err error) {
	defer recovered(&err)
	in, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true))
	if err != nil {
		return nil, fmt.Errorf("not a readable Parquet file: %w", err)
	}
	if err := t.check(in.Schema()); err != nil {
		return nil, err
	}
	return &File[T]{table: t, in: in}, nil
}

// check compares every leaf: path, physical type and nesting.
func (t *Table[T]) check(got *parquet.Schema) error {
	want, have := leaves(t.schema), leaves(got)
	for i := range max(len(want), len(have)) {
		switch {
		case i >= len(have):
			return fmt.Errorf("column %q is missing", want[i].path)
		case i >= len(want):
			return fmt.Errorf("unknown column %q", have[i].path)
		case want[i] != have[i]:
			return fmt.Errorf("column %d is %s, want %s", i+1, have[i], want[i])
		}
	}
	return nil
}

type leaf struct {
	path     string
	kind     parquet.Kind
	def, rep int
}

func (l leaf) String() string {
	s := fmt.Sprintf("%q (%v", l.path, l.kind)
	if l.def > 0 {
		s += ", optional"
	}
	return s + ")"
}

func leaves(s *parquet.Schema) []leaf {
	var out []leaf
	for _, path := range s.Columns() {
		l, _ := s.Lookup(path...)
		name := path[0]
		out = append(out, leaf{name, l.Node.Type().Kind(), l.MaxDefinitionLevel, l.MaxRepetitionLevel})
	}
	return out
}

// Meta returns a key of the footer.
func (f *File[T]) Meta(key string) (string, bool) { return f.in.Lookup(key) }

// NumRows returns the number of rows the footer states.
func (f *File[T]) NumRows() int64 { return f.in.NumRows() }

// Rows yields every row in file order. An error ends the sequence. It may be
// ranged over more than once.
func (f *File[T]) Rows() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := int64(0)
		for _, group := range f.in.RowGroups() {
			more, err := f.group(group, &n, yield)
			if err != nil {
				var zero T
				yield(zero, fmt.Errorf("row %d: %w", n, err))
				return
			}
			if !more {
				return
			}
		}
	}
}

func (f *File[T]) group(group parquet.RowGroup, n *int64, yield func(T, error) bool) (more bool, err error) {
	rows := group.Rows()
	defer rows.Close()
	buf := make([]parquet.Row, 256)
	for {
		k, err := readRows(rows, buf)
		for _, r := range buf[:k] {
			var row T
			if err := f.table.decode(&row, r); err != nil {
				return false, err
			}
			if !yield(row, nil) {
				return false, nil
			}
			*n++
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if k == 0 {
			return false, errors.New("the file ends early")
		}
	}
}

// readRows keeps a panic of the decoder on a damaged page from leaving the
// package, and only that: a panic of the caller's own code passes.
func readRows(rows parquet.Rows, buf []parquet.Row) (n int, err error) {
	defer recovered(&err)
	return rows.ReadRows(buf)
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged Parquet file: %v", p)
	}
}

func (t *Table[T]) decode(row *T, vals parquet.Row) error {
	col := 0
	for from := 0; from < len(vals); col++ {
		to := from + 1
		for to < len(vals) && vals[to].Column() == vals[from].Column() {
			to++
		}
		if vals[from].Column() != col || col >= len(t.columns) {
			return errors.New("damaged Parquet file: values out of order")
		}
		if err := t.columns[col].get(row, vals[from:to]); err != nil {
			return fmt.Errorf("column %q: %w", t.columns[col].name, err)
		}
		from = to
	}
	if col != len(t.columns) {
		return errors.New("damaged Parquet file: columns missing in a row")
	}
	return nil
}
