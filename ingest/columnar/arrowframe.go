package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowFrames takes the messages out of a stream: a mark, the length of the
// description, the description, the body. It stands in the place of the
// library's reader, which takes memory for what a description claims before
// anything is checked.
type arrowFrames struct {
	r    io.Reader
	done bool // the mark of the stream's end was there
	// Columns of views in a batch and in a dictionary: each has a count in a list
	// that the library reads beyond its end.
	views, dictionaryViews int
}

// expect counts the columns of views.
func (f *arrowFrames) expect(fields []arrow.Field) {
	for _, c := range fields {
		f.views += f.count(c.Type)
	}
}

func (f *arrowFrames) count(t arrow.DataType) int {
	n := 0
	switch t := t.(type) {
	case arrow.BinaryViewDataType:
		return 1
	case *arrow.DictionaryType:
		f.dictionaryViews = max(f.dictionaryViews, f.count(t.ValueType))
	case arrow.ExtensionType:
		return f.count(t.StorageType())
	case arrow.NestedType:
		for _, c := range t.Fields() {
			n += f.count(c.Type)
		}
	}
	return n
}

func (f *arrowFrames) Retain()  {}
func (f *arrowFrames) Release() {}

func (f *arrowFrames) Message() (*ipc.Message, error) {
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	meta := make([]byte, n)
	if err := full(f.r, meta); err != nil {
		return nil, err
	}
	size, err := checkMessage(meta, f.views, f.dictionaryViews)
	if err != nil {
		return nil, err
	}
	body, err := f.body(size)
	if err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// length reads what stands before a message. Before version 0.15 there was no
// mark before the length.
func (f *arrowFrames) length() (int64, error) {
	var b [4]byte
	if _, err := io.ReadFull(f.r, b[:]); err != nil {
		return 0, err // io.EOF: the stream ends without a mark, which is allowed
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n == 0xffffffff {
		if err := full(f.r, b[:]); err != nil {
			return 0, err
		}
		n = binary.LittleEndian.Uint32(b[:])
	}
	switch {
	case n == 0:
		f.done = true
		return 0, io.EOF
	case n < 16 || n > maxArrowMeta:
		return 0, fmt.Errorf("a message's description has %d bytes", n)
	}
	return int64(n), nil
}

// body reads the buffers of a batch, taking memory as they come.
func (f *arrowFrames) body(size int64) ([]byte, error) {
	if size < 0 || size > maxArrowBody {
		return nil, fmt.Errorf("a batch has %d bytes, more than %d MiB", size, maxArrowBody>>20)
	}
	const step = 8 << 20
	out := make([]byte, min(size, step))
	for at := int64(0); ; {
		if err := full(f.r, out[at:]); err != nil {
			return nil, err
		}
		if at = int64(len(out)); at == size {
			return out, nil
		}
		more := make([]byte, min(size, 2*at))
		copy(more, out)
		out = more
	}
}

// full is io.ReadFull in which any end comes too early.
func full(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
