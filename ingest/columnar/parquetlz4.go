package columnar

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// The library unpacks a page of LZ4 into a new buffer when the one it has is
// smaller than three times the page, and then reads the old one, unless more came
// out than the header says (parquet-go v0.32 column.go, compress/lz4). So it is
// shown headers that say nothing comes out. What comes out was checked before,
// by checkBody.

// patch is bytes that a reader sees in the place of a file's own.
type patch struct {
	off int64
	b   []byte
}

// unpackedSize is the place of the unpacked size in the header of a page: its
// field 2, behind the page's type. Source: parquet.thrift, PageHeader.
func unpackedSize(header []byte) (from, to int, err error) {
	const nextI32 = 0x15 // the next field, a 32-bit number
	err = errors.New("a page's header is not in the order of its fields")
	if len(header) == 0 || header[0] != nextI32 {
		return 0, 0, err
	}
	_, n := binary.Uvarint(header[1:])
	if from = 1 + n; n <= 0 || from >= len(header) || header[from] != nextI32 {
		return 0, 0, err
	}
	from++
	if _, n = binary.Uvarint(header[from:]); n <= 0 {
		return 0, 0, err
	}
	return from, from + n, nil
}

// hideSize has the header at off say that its page unpacks to nothing.
func (r *pagedReader) hideSize(off int64, header []byte) error {
	from, to, err := unpackedSize(header)
	if err != nil {
		return err
	}
	zero := make([]byte, to-from) // 0 as a varint of the same length
	for i := range len(zero) - 1 {
		zero[i] = 0x80
	}
	r.found = append(r.found, patch{off + int64(from), zero})
	return nil
}

// sortPatches has the patches that were found be seen, and none before them.
func (r *pagedReader) sortPatches() {
	r.patches, r.found = r.found, r.patches[:0]
	slices.SortFunc(r.patches, func(a, b patch) int { return cmp.Compare(a.off, b.off) })
}

// applyPatches lays the patches over what was read at off.
func (r *pagedReader) applyPatches(b []byte, off int64) {
	i, _ := slices.BinarySearchFunc(r.patches, off, func(p patch, off int64) int { return cmp.Compare(p.off+int64(len(p.b)), off) })
	for ; i < len(r.patches) && r.patches[i].off < off+int64(len(b)); i++ {
		at := r.patches[i].off - off
		copy(b[max(at, 0):], r.patches[i].b[max(-at, 0):])
	}
}
