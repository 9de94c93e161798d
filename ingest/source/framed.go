package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const zstdMagic = "\x28\xb5\x2f\xfd"

// maxFrame is the longest record of a framed file, as stored.
const maxFrame = 64 << 20

// isFramed tells the files of OpenTelemetry's file exporter with compression:
// of each record its length in 4 bytes, big end first, and then zstd.
// Source: opentelemetry-collector-contrib, exporter/fileexporter/README.md.
func isFramed(magic []byte) bool {
	return len(magic) >= 8 && string(magic[4:8]) == zstdMagic && binary.BigEndian.Uint32(magic) <= maxFrame
}

// framed reads such records as lines.
type framed struct {
	from   *bufio.Reader
	z      *zstd.Decoder
	in     io.LimitedReader // the open record
	open   bool
	first  bool // the first bytes were looked at
	behind byte // the last byte handed on
}

func newFramed(from *bufio.Reader) (*framed, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	return &framed{from: from, z: z, behind: '\n'}, err
}

func (f *framed) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if !f.open {
			if err := f.next(); err != nil {
				return 0, err
			}
		}
		n, err := f.z.Read(p)
		if n > 0 {
			if head := bytes.TrimLeft(p[:n], " \t\r\n"); !f.first && len(head) > 0 {
				f.first = true
				if head[0] != '{' && head[0] != '[' {
					return 0, Damaged("holds records of OpenTelemetry that are not JSON; have the file exporter write them with format: json")
				}
			}
			f.behind = p[n-1]
			return n, nil
		}
		if err != nil && !IsEnd(err) {
			return 0, err
		}
		if err != nil && f.in.N > 0 {
			return 0, errors.New("a record is longer than its frame of zstd")
		}
		if err != nil {
			f.open = false
			if f.behind != '\n' {
				f.behind, p[0] = '\n', '\n'
				return 1, nil
			}
		}
	}
	return 0, nil
}

// next opens the next record.
func (f *framed) next() error {
	var size [4]byte
	if _, err := io.ReadFull(f.from, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || n > maxFrame {
		return errors.New("the length of a record is damaged")
	}
	f.in = io.LimitedReader{R: f.from, N: int64(n)}
	f.open = true
	return f.z.Reset(&f.in)
}
