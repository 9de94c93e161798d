package source

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMembers reads the members of a gzip file one after the other. Zero bytes
// behind the last one fill up a block of a tape or disk, and are nothing.
type gzipMembers struct {
	from *bufio.Reader
	z    *gzip.Reader
}

func newGzip(from *bufio.Reader) (*gzipMembers, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{from, z}, nil
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if n > 0 || !IsEnd(err) {
			if IsEnd(err) {
				err = nil // comes again
			}
			return n, err
		}
		if _, err := skipZeros(g.from); err != nil {
			return 0, err
		}
		if err := g.z.Reset(g.from); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		g.z.Multistream(false)
	}
}

// skipZeros reads over zero bytes, says how many, and returns io.EOF where
// nothing follows them.
func skipZeros(r *bufio.Reader) (n int64, err error) {
	for {
		if _, err := r.Peek(1); err != nil {
			return n, err
		}
		b, _ := r.Peek(r.Buffered())
		k := 0
		for k < len(b) && b[k] == 0 {
			k++
		}
		r.Discard(k)
		if n += int64(k); k < len(b) {
			return n, nil
		}
	}
}
