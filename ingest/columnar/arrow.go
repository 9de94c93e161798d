package columnar

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	arrowarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
	"reprise/ingest/source"
)

const (
	arrowMagic    = "ARROW1\x00\x00"
	maxArrowMeta  = 4 << 20   // bytes that describe a batch; nesting costs stack
	maxArrowBody  = 512 << 20 // bytes of a batch as stored
	maxArrowAlive = 1 << 30   // bytes of the batch and the dictionaries, unpacked
	maxArrowRows  = 1 << 27   // of a batch
)

// IsArrowFile takes an IPC file (Feather version 2).
func IsArrowFile(head []byte) bool { return string(head[:min(len(head), 6)]) == arrowMagic[:6] }

// IsArrowStream takes a stream: the mark that a message follows, and its length.
func IsArrowStream(head []byte) bool {
	if len(head) < 12 || binary.LittleEndian.Uint32(head) != 0xffffffff {
		return false
	}
	n := binary.LittleEndian.Uint32(head[4:])
	return n >= 8 && n <= maxArrowMeta && n%8 == 0
}

// arrowFile reads the record batches of an Arrow file or stream one after the
// other. A file without a footer, which is cut short, is read from its start as
// the stream that it is between its magic numbers.
type arrowFile struct {
	scribe
	name   string
	tail   *arrowTail   // of a stream
	paged  *pagedReader // of a file with a footer
	isFile bool         // read as a stream
	frames *arrowFrames
	reader *ipc.Reader
	parts  []partition
	plan   *rows.Plan // nil while the columns are not chosen
	fields []arrow.Field
	batch  arrow.RecordBatch
	want   []int
	at     int
	items  int64
}

// OpenArrowFile opens a file by its footer.
func OpenArrowFile(s *source.Source) (rows.Reader, error) {
	r, size, err := s.File()
	if err != nil {
		return nil, err
	}
	return readArrow(s.Context(), s.Name, r, size)
}

func readArrow(ctx context.Context, name string, r io.ReaderAt, size int64) (rows.Reader, error) {
	at := &pagedReader{ctx: ctx, r: r}
	blocks, err := arrowFooter(at, size)
	if err != nil {
		return nil, at.or(source.Damaged("the Arrow file's footer cannot be read (%s)", oneLine(err)))
	}
	if blocks == nil {
		return arrowStream(name, io.NewSectionReader(at, 0, size))
	}
	a := &arrowFile{name: name, paged: at, frames: blocks.arrowFrames, parts: partitionsOf(name)}
	return a, a.start(blocks)
}

// OpenArrowStream reads a stream.
func OpenArrowStream(s *source.Source, r io.Reader) (rows.Reader, error) {
	return arrowStream(s.Name, r)
}

func arrowStream(name string, r io.Reader) (rows.Reader, error) {
	a := &arrowFile{name: name, tail: &arrowTail{r: bufio.NewReaderSize(r, 256<<10)}, parts: partitionsOf(name)}
	if head, _ := a.tail.r.Peek(8); string(head) == arrowMagic {
		a.isFile = true
		a.tail.r.Discard(8)
	}
	a.frames = &arrowFrames{r: a.tail}
	return a, a.start(a.frames)
}

// start reads the schema.
func (a *arrowFile) start(messages ipc.MessageReader) error {
	err := func() (err error) {
		defer recovered(&err)
		a.reader, err = ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(&budget{limit: maxArrowAlive}))
		return err
	}()
	if err != nil {
		return a.or(source.Damaged("the Arrow file's schema cannot be read (%s)", oneLine(err)))
	}
	a.fields = a.reader.Schema().Fields()
	a.frames.expect(a.fields)
	a.parts = slices.DeleteFunc(a.parts, func(p partition) bool { return a.reader.Schema().HasField(p.name) })
	return nil
}

// or is the failure of what lies below, when there was one, and err otherwise.
func (a *arrowFile) or(err error) error {
	if a.paged != nil {
		return a.paged.or(err)
	}
	return a.tail.or(err)
}

func (a *arrowFile) Bind(p *rows.Plan) { a.plan = p }

func (a *arrowFile) Next() (pos rows.Pos, err error) {
	for a.batch == nil || a.at >= int(a.batch.NumRows()) {
		if err := a.turn(); err != nil {
			return rows.Pos{}, err
		}
	}
	a.items++
	pos = rows.Pos{File: a.name, Item: a.items}
	if err := a.row(); err != nil {
		return pos, rows.Bad(rows.BadType, "a value cannot be read")
	}
	if e := a.parse(); e != nil {
		return pos, e
	}
	return pos, nil
}

// turn goes to the next batch.
func (a *arrowFile) turn() (err error) {
	a.batch, a.at = nil, 0
	defer recovered(&err)
	if !a.reader.Next() {
		if err := a.reader.Err(); err != nil {
			return a.or(source.Damaged("the Arrow file breaks off or is damaged after row %d (%s)", a.items, oneLine(err)))
		}
		return a.end()
	}
	a.batch = a.reader.RecordBatch()
	if a.batch.NumRows() < 0 || a.batch.NumRows() > maxArrowRows {
		return source.Damaged("a batch of the Arrow file claims too many rows")
	}
	a.want = a.want[:0]
	for i, f := range a.fields {
		if a.plan != nil && !a.plan.Wants(f.Name) {
			continue
		}
		if err := arrowarray.Validate(a.batch.Column(i)); err != nil {
			return source.Damaged("column %d of the Arrow file is damaged (%s)", i+1, oneLine(err))
		}
		a.want = append(a.want, i)
	}
	return nil
}

// end looks at what follows the last batch: the end of a stream, or a file's
// footer with the magic number.
func (a *arrowFile) end() error {
	if !a.isFile {
		return io.EOF
	}
	if _, err := io.Copy(io.Discard, a.tail); err != nil {
		return err
	}
	if !a.frames.done || string(a.tail.last[:]) != arrowMagic[:6] {
		return source.Damaged("the Arrow file is cut short after row %d; fetch it again", a.items)
	}
	return io.EOF
}

func (a *arrowFile) row() (err error) {
	defer recovered(&err)
	a.reset()
	i := a.at
	a.at++
	a.open('{')
	for _, c := range a.want {
		a.key(a.fields[c].Name)
		a.arrowValue(a.batch.Column(c), i, 0)
	}
	a.addPartitions(a.parts)
	a.shut('}')
	return nil
}

func (a *arrowFile) Close() {
	if a.reader != nil {
		a.reader.Release()
		a.reader = nil
	}
}

func (a *arrowFile) Current() *fastjson.Value { return a.value }

func (a *arrowFile) Names(add func(string)) {
	if a.value == nil {
		for _, f := range a.fields {
			add(f.Name)
		}
		return
	}
	notation.Names(a.value, add)
}

func (a *arrowFile) Fill(p *rows.Plan) *rows.Error {
	return p.Take(a.value)
}

// arrowTail remembers the last bytes of a stream and a failure below it, which
// the library wraps.
type arrowTail struct {
	r    *bufio.Reader
	last [6]byte
	err  error
}

func (t *arrowTail) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n >= len(t.last) {
		copy(t.last[:], p[n-len(t.last):n])
	} else {
		copy(t.last[:], t.last[n:])
		copy(t.last[len(t.last)-n:], p[:n])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

func (t *arrowTail) or(err error) error {
	if t.err != nil {
		return t.err
	}
	return err
}

// budget is memory for a reader that trusts the sizes it reads. Beyond the limit
// it panics, which the library and arrowFile turn into an error.
type budget struct{ limit, used int }

func (b *budget) Allocate(n int) []byte {
	b.take(n)
	return make([]byte, n)
}

func (b *budget) take(n int) {
	if n < 0 || n > b.limit-b.used {
		panic(fmt.Sprintf("it needs more than %d MiB of memory", b.limit>>20))
	}
	b.used += n
}

func (b *budget) Reallocate(n int, old []byte) []byte {
	b.take(max(n-len(old), 0))
	if n <= len(old) {
		b.used -= len(old) - n
		return old[:n]
	}
	if n <= cap(old) {
		return old[:n]
	}
	out := make([]byte, n)
	copy(out, old)
	return out
}

func (b *budget) Free(old []byte) { b.used -= len(old) }
