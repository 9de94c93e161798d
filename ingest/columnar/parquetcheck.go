package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxPage       = 256 << 20 // bytes of one page, unpacked
	maxPageValues = 1 << 25   // values of one page, which may take no bytes at all
	maxHeader     = 16 << 20  // bytes of a page's header
)

// checkPages walks the headers of a column's pages before they are read, as the
// library takes memory for what they claim. Only the headers are read.
func checkPages(at *pagedReader, c *format.ColumnMetaData) error {
	start, size := c.DataPageOffset, c.TotalCompressedSize
	if start < 0 || size < 0 || c.NumValues < 0 {
		return errors.New("a column has no place")
	}
	if d := c.DictionaryPageOffset; d != 0 {
		if d < 0 || d >= start || start-d > size {
			return errors.New("a dictionary is not before its pages")
		}
		if err := checkChain(at, c, d, start-d, 0); err != nil {
			return err
		}
		size -= start - d
	}
	return checkChain(at, c, start, size, c.NumValues)
}

// checkChain checks pages that follow each other in size bytes until they hold
// a number of values; for 0 it checks one page, the dictionary's.
func checkChain(at *pagedReader, c *format.ColumnMetaData, start, size, want int64) error {
	var values int64
	for pos := int64(0); pos < size && (values < want || want == 0); {
		h, header, err := pageHeader(at, start+pos, size-pos)
		if err != nil {
			return err
		}
		if c.Codec == format.Lz4Raw {
			if err := at.hideSize(start+pos, header); err != nil {
				return err
			}
		}
		count, err := pageValues(h)
		if err != nil {
			return err
		}
		values += count
		if pos += int64(len(header)); pos+int64(h.CompressedPageSize) > size {
			return errors.New("a page is longer than its column")
		}
		if err := checkBody(at, c.Codec, start+pos, h); err != nil {
			return err
		}
		pos += int64(h.CompressedPageSize)
	}
	if values != want {
		return errors.New("pages and footer differ in the number of values")
	}
	return nil
}

// pageHeader reads the header of a page and its bytes. Most are short; one that
// holds the smallest and largest of long texts is not.
func pageHeader(at *pagedReader, off, left int64) (*format.PageHeader, []byte, error) {
	for n := int64(512); ; n *= 16 {
		b := make([]byte, min(n, left))
		if _, err := at.ReadAt(b, off); err != nil {
			return nil, nil, at.or(errors.New("a page is cut short"))
		}
		size, err := thriftStruct(b, 64)
		if errors.Is(err, errThriftShort) && n < left && n < maxHeader {
			continue
		}
		h := &format.PageHeader{}
		if err == nil {
			err = thrift.Unmarshal(&thrift.CompactProtocol{}, b[:size], h)
		}
		if err != nil {
			return nil, nil, errors.New("a page has no header that can be read")
		}
		return h, b[:size], nil
	}
}

// checkBody compares what a page says that it unpacks to with what its header
// says, for the codecs that tell it without unpacking.
func checkBody(at *pagedReader, codec format.CompressionCodec, off int64, h *format.PageHeader) error {
	size := int(h.CompressedPageSize)
	if h.Type == format.DataPageV2 {
		v2 := h.DataPageHeaderV2.V
		levels := int(v2.RepetitionLevelsByteLength) + int(v2.DefinitionLevelsByteLength)
		if levels < 0 || levels > size {
			return errors.New("a page's levels are longer than the page")
		}
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return nil
		}
		off, size = off+int64(levels), size-levels
	}
	if codec != format.Lz4Raw {
		size = min(size, zstd.HeaderMaxSize)
	}
	if size == 0 || codec != format.Lz4Raw && codec != format.Zstd && codec != format.Snappy {
		return nil
	}
	b := make([]byte, size)
	if _, err := at.ReadAt(b, off); err != nil {
		return at.or(err)
	}
	ok := true
	switch codec {
	case format.Lz4Raw:
		n := lz4Length(b)
		ok = n >= 0 && n <= int64(h.UncompressedPageSize)
	case format.Snappy:
		n, k := binary.Uvarint(b)
		ok = k > 0 && n <= uint64(h.UncompressedPageSize)
	case format.Zstd:
		var z zstd.Header
		ok = z.Decode(b) == nil && (!z.HasFCS || z.FrameContentSize <= uint64(h.UncompressedPageSize))
	}
	if !ok {
		return errors.New("a page does not unpack to the size that it claims")
	}
	return nil
}

// lz4Length is how many bytes an LZ4 block unpacks to, -1 when it is no block.
// Source: lz4_Block_format.md.
func lz4Length(b []byte) int64 {
	var out int64
	for i := 0; i < len(b); {
		token := b[i]
		literals, n := lz4Count(b[i+1:], token>>4)
		i += 1 + n + literals
		if n < 0 || i > len(b) {
			return -1
		}
		out += int64(literals)
		if i == len(b) && token&15 == 0 {
			return out
		}
		if i+2 > len(b) {
			return -1
		}
		offset := int64(b[i]) | int64(b[i+1])<<8
		match, n := lz4Count(b[i+2:], token&15)
		i += 2 + n
		if n < 0 || offset == 0 || offset > out {
			return -1
		}
		out += int64(match) + 4
	}
	return -1
}

// lz4Count reads a length of 4 bits and the bytes that go on with it; n is how
// many those are, or -1.
func lz4Count(b []byte, first byte) (count, n int) {
	count = int(first)
	if first < 15 {
		return count, 0
	}
	for n < len(b) {
		c := b[n]
		n++
		if count += int(c); c < 255 {
			return count, n
		}
	}
	return 0, -1
}

// pageValues is how many values a page has, when its sizes can be true.
func pageValues(h *format.PageHeader) (int64, error) {
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage || h.CompressedPageSize > maxPage {
		return 0, fmt.Errorf("a page is of a size that is not read (%d MiB at most)", maxPage>>20)
	}
	n := int32(0)
	switch h.Type {
	case format.DataPage:
		n = h.DataPageHeader.V.NumValues
	case format.DataPageV2:
		n = h.DataPageHeaderV2.V.NumValues
	case format.DictionaryPage:
		if n = h.DictionaryPageHeader.V.NumValues; n < 0 || n > maxPageValues {
			return 0, errors.New("a dictionary claims too many values")
		}
		return 0, nil
	}
	if n < 0 || n > maxPageValues {
		return 0, errors.New("a page claims too many values")
	}
	return int64(n), nil
}
