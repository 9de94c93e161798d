package trace

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"

	"reprise/trace/table"
)

// metaKey is the footer key of the header.
const metaKey = "reprise"

// columns is the trace table of artifacts.md §1, in its order; built once.
var columns = sync.OnceValue(newColumns)

func newColumns() *table.Table[Request] {
	type r = Request
	return table.New("trace",
		table.Int("id", func(q *r) *int64 { return &q.ID }),
		table.OptInt("t_us", func(q *r) *Opt[int64] { return &q.T }),
		table.OptInt("session", func(q *r) *Opt[int32] { return &q.Session }),
		table.OptInt("turn", func(q *r) *Opt[int32] { return &q.Turn }),
		table.OptInt("parent", func(q *r) *Opt[int64] { return &q.Parent }),
		table.OptInt("client", func(q *r) *Opt[int32] { return &q.Client }),
		table.Enum("api", apiNames, func(q *r) *API { return &q.API }),
		table.OptString("model", func(q *r) *string { return &q.Model }),
		table.OptString("adapter", func(q *r) *string { return &q.Adapter }),
		table.OptInt("input_tokens", func(q *r) *Opt[int32] { return &q.Input }),
		table.OptInt("output_tokens", func(q *r) *Opt[int32] { return &q.Output }),
		table.OptInt("cached_tokens", func(q *r) *Opt[int32] { return &q.Cached }),
		table.OptInt("reasoning_tokens", func(q *r) *Opt[int32] { return &q.Reason }),
		table.OptInt("media_tokens", func(q *r) *Opt[int32] { return &q.Media }),
		table.OptInt("max_tokens", func(q *r) *Opt[int32] { return &q.Max }),
		table.OptInt("input_chars", func(q *r) *Opt[int32] { return &q.InChars }),
		table.OptInt("output_chars", func(q *r) *Opt[int32] { return &q.OutCh }),
		table.Enum("tokens_from", tokensFromNames, func(q *r) *TokensFrom { return &q.From }),
		table.Ints("blocks", func(q *r) *[]int32 { return &q.Blocks }),
		table.OptInt("prefix_tokens", func(q *r) *Opt[int32] { return &q.Prefix }),
		table.OptBool("stream", func(q *r) *Opt[bool] { return &q.Stream }),
		table.OptBool("tools", func(q *r) *Opt[bool] { return &q.Tools }),
		table.OptBool("json_schema", func(q *r) *Opt[bool] { return &q.Schema }),
		table.OptInt("tool_tokens", func(q *r) *Opt[int32] { return &q.ToolTok }),
		table.OptInt("schema_tokens", func(q *r) *Opt[int32] { return &q.SchemaT }),
		table.Int("n", func(q *r) *int16 { return &q.N }),
		table.Enum("finish", finishNames, func(q *r) *Finish { return &q.Finish }),
		table.OptInt("status", func(q *r) *Opt[int16] { return &q.Status }),
		table.OptInt("ttft_us", func(q *r) *Opt[int64] { return &q.TTFT }),
		table.OptInt("duration_us", func(q *r) *Opt[int64] { return &q.Dur }),
	)
}

// Columns returns the column names in file order.
func Columns() []string { return columns().Columns() }

// Cells returns a request's values in the order of Columns (table.Cells).
func Cells(r *Request) []any { return columns().Cells(r) }

// Write writes a trace file. Requests must come in order of arrival, with ids
// from 0, either all or none with a time; anything else is an error. A trace
// that leaves must not name clients.
func Write(w io.Writer, h Header, requests iter.Seq2[Request, error]) error {
	meta, err := h.encode()
	if err != nil {
		return err
	}
	out := columns().NewWriter(w)
	defer out.Stop()
	out.SetMeta(metaKey, meta)
	check := order{leaves: h.Leaves}
	for r, err := range requests {
		if err != nil {
			return err
		}
		if err := check.next(&r); err != nil {
			return err
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	if check.n != h.Counts.Kept {
		return fmt.Errorf("trace header says %d rows kept, %d were written", h.Counts.Kept, check.n)
	}
	counting, err := encodeCounting(h)
	if err != nil {
		return err
	}
	if counting != "" {
		out.SetMeta(countingKey, counting)
	}
	return out.Close()
}

// order checks the row rules that hold in every trace.
type order struct {
	n      int64
	last   int64
	timed  bool
	leaves bool
}

func (o *order) next(r *Request) error {
	switch {
	case r.ID != o.n:
		return fmt.Errorf("row %d has id %d", o.n, r.ID)
	case o.n > 0 && r.T.OK != o.timed:
		return fmt.Errorf("row %d: some rows have a time and some have none", o.n)
	case r.T.OK && (r.T.V < 0 || r.T.V < o.last):
		return fmt.Errorf("row %d arrives before the row above it", o.n)
	case r.Parent.OK && (r.Parent.V < 0 || r.Parent.V >= r.ID):
		return fmt.Errorf("row %d: parent %d is not an earlier row", o.n, r.Parent.V)
	case o.leaves && r.Client.OK:
		return fmt.Errorf("row %d names a client in a trace that leaves", o.n)
	case negative(r):
		return fmt.Errorf("row %d has a negative count", o.n)
	case r.N < 1:
		return fmt.Errorf("row %d asks for %d completions", o.n, r.N)
	}
	o.timed, o.last, o.n = r.T.OK, r.T.V, o.n+1
	return nil
}

func negative(r *Request) bool {
	for _, v := range []Opt[int32]{r.Input, r.Output, r.Cached, r.Reason, r.Media, r.Max,
		r.InChars, r.OutCh, r.Prefix, r.ToolTok, r.SchemaT, r.Session, r.Turn} {
		if v.OK && v.V < 0 {
			return true
		}
	}
	return false
}

// File is an open trace file.
type File struct {
	Header Header
	file   *table.File[Request]
}

// Open reads the header and checks the columns; r must stay usable while
// requests are read.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f, err := columns().Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a trace: %w", err)
	}
	meta, ok := f.Meta(metaKey)
	if !ok {
		return nil, errors.New("not a trace: the footer has no reprise header")
	}
	h, err := decodeHeader(meta)
	if err != nil {
		return nil, err
	}
	if text, ok := f.Meta(countingKey); ok {
		if h.Counting, err = decodeCounting(text); err != nil {
			return nil, err
		}
	}
	if f.NumRows() != h.Counts.Kept {
		return nil, fmt.Errorf("trace header says %d rows kept, the file has %d", h.Counts.Kept, f.NumRows())
	}
	return &File{Header: h, file: f}, nil
}

// Requests yields the requests in order of arrival and refuses rows that break
// the rules of Write. An error ends the sequence.
func (f *File) Requests() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		check := order{leaves: f.Header.Leaves}
		for r, err := range f.file.Rows() {
			if err == nil {
				err = check.next(&r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Chunks yields the requests in order of arrival, some ten thousand at a time,
// with only the named columns of Columns filled in; others are zero. It holds no
// rules of Write but that of order. The slice is used again for the next.
func (f *File) Chunks(columns ...string) iter.Seq2[[]Request, error] {
	return func(yield func([]Request, error) bool) {
		timed, last, n := false, int64(0), int64(0)
		for rows, err := range f.file.Chunks(columns...) {
			for i := range rows {
				r := &rows[i]
				if err != nil || !slices.Contains(columns, "t_us") {
					break
				}
				if n+int64(i) > 0 && r.T.OK != timed || r.T.V < last {
					err = fmt.Errorf("row %d arrives before the row above it, or only one of them has a time", n+int64(i))
				}
				timed, last = r.T.OK, r.T.V
			}
			n += int64(len(rows))
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// NumBlocks is the number of prefix blocks in all requests together; a request
// without any counts as one.
func (f *File) NumBlocks() int64 { return f.file.Values("blocks") }

// Load reads a whole trace into memory: about 300 bytes a request and 4 bytes
// a prefix block.
func Load(r io.ReaderAt, size int64) (*Trace, error) {
	f, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	t := &Trace{Header: f.Header}
	for q, err := range f.Requests() {
		if err != nil {
			return nil, err
		}
		t.Requests = append(t.Requests, q)
	}
	return t, nil
}

// LoadFile is Load of the file at path.
func LoadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t, err := Load(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// All yields the requests of a trace in memory, in the form that Write takes.
func (t *Trace) All() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for i := range t.Requests {
			if !yield(t.Requests[i], nil) {
				return
			}
		}
	}
}
