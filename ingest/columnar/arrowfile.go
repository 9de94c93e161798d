package columnar

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowBlocks are the messages of an Arrow file, in the places that its footer
// names: what lies between them is nobody's. Source: File.fbs of the format.
type arrowBlocks struct {
	*arrowFrames // reads one block
	at           *pagedReader
	schema       []byte // its message; nil once it was handed on
	blocks       []arrowBlock
}

// arrowBlock is where a message lies, and how long it is with its body.
type arrowBlock struct{ offset, size int64 }

// arrowFooter reads the footer of a file; nil when there is none, which is a
// file that is cut short.
func arrowFooter(at *pagedReader, size int64) (*arrowBlocks, error) {
	const ending = 10 // the footer's length and the magic number
	var tail [ending]byte
	if size < int64(len(arrowMagic)+ending) {
		return nil, nil
	}
	if _, err := at.ReadAt(tail[:], size-ending); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != arrowMagic[:6] {
		return nil, nil
	}
	if n < 8 || n > maxFooter || n > size-ending-int64(len(arrowMagic)) {
		return nil, errFlat
	}
	footer := make([]byte, n)
	if _, err := at.ReadAt(footer, size-ending-n); err != nil {
		return nil, err
	}
	b := &arrowBlocks{at: at, arrowFrames: &arrowFrames{}}
	return b, b.parse(footer, size-ending-n)
}

// parse takes the schema and the places of the messages, which lie before end.
func (b *arrowBlocks) parse(footer []byte, end int64) error {
	f := &flatBuffer{b: footer, left: 1 << 18}
	root, err := f.follow(0)
	if err != nil {
		return err
	}
	schema, err := f.table(root, 1)
	if err != nil || schema == 0 {
		return errFlat
	}
	var total int64
	for _, field := range []int{2, 3} { // dictionaries, then batches
		const size = 24 // of a Block
		from, n, err := f.vector(root, field, size)
		if err != nil {
			return err
		}
		for i := range n {
			p := footer[from+size*i:]
			offset, meta, body := int64(binary.LittleEndian.Uint64(p)), int64(int32(binary.LittleEndian.Uint32(p[8:]))), int64(binary.LittleEndian.Uint64(p[16:]))
			if offset < 0 || meta < 0 || body < 0 || body > maxArrowBody || offset > end || meta+body > end-offset {
				return errors.New("its footer names places that are not in the file")
			}
			if total += meta + body; total > end {
				return errors.New("its footer names places twice")
			}
			b.blocks = append(b.blocks, arrowBlock{offset, meta + body})
		}
	}
	b.schema = schemaMessage(footer, schema)
	_, err = checkMessage(b.schema, 0, 0)
	return err
}

// schemaMessage is the message that a stream would begin with: a table of the
// kind Message laid before the footer, whose header is the footer's schema.
func schemaMessage(footer []byte, schema int) []byte {
	const (
		vtable, table, head = 4, 16, 32
		header              = table + 4
	)
	m := make([]byte, head, head+len(footer))
	put := binary.LittleEndian
	put.PutUint32(m, table)
	for i, v := range []uint16{10, 12, 8, 10, header - table} { // sizes of both, and where version, kind and header are
		put.PutUint16(m[vtable+2*i:], v)
	}
	put.PutUint32(m[table:], table-vtable)
	put.PutUint32(m[header:], uint32(head+schema-header))
	m[table+8] = 4  // version 5 of the format
	m[table+10] = 1 // a schema
	return append(m, footer...)
}

// Message hands on the schema, the dictionaries and the batches.
func (b *arrowBlocks) Message() (*ipc.Message, error) {
	if m := b.schema; m != nil {
		b.schema = nil
		return ipc.NewMessage(memory.NewBufferBytes(m), memory.NewBufferBytes(nil)), nil
	}
	if len(b.blocks) == 0 {
		return nil, io.EOF
	}
	next := b.blocks[0]
	b.blocks = b.blocks[1:]
	b.r = io.NewSectionReader(b.at, next.offset, next.size)
	m, err := b.arrowFrames.Message()
	if errors.Is(err, io.EOF) {
		err = errors.New("a message is not where the footer says")
	}
	return m, err
}
