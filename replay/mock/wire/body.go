package wire

import "bytes"

// MaxChunkLine bounds a chunk's size line with its extensions, and a trailer.
const MaxChunkLine = 4096

// Body takes a body's bytes as they come, however cut. It begins with the
// framing that a head gives.
type Body struct {
	Bytes []byte // the content so far
	Over  bool   // it is over the limit

	limit   int64 // most bytes of content
	left    int64 // bytes missing of the body, or of the chunk
	chunked bool
	state   chunkState
	trailer int // bytes of trailers so far
}

type chunkState uint8

const (
	chunkSize chunkState = iota // at a size line
	chunkData
	chunkEnd // at the CRLF behind the data
	chunkTrailer
)

// Begin starts a body; dst is reused for it.
func (r *Body) Begin(h *Head, limit int64, dst []byte) {
	*r = Body{limit: limit, Bytes: dst[:0], chunked: h.Chunked}
	if !h.Chunked {
		r.left = max(h.Length, 0)
		r.Over = r.left > limit
	}
}

// Take consumes bytes from the front of b; done tells that the body is
// complete. A body over the limit sets Over and is refused by the caller.
// Without progress or an end, more bytes are needed behind the ones in b.
func (r *Body) Take(b []byte) (n int, done bool, err *Error) {
	if !r.chunked {
		n = r.data(b)
		return n, r.left == 0, nil
	}
	for !r.Over {
		k, last, err := r.step(b[n:])
		n += k
		if err != nil || last {
			return n, last, err
		}
		if k == 0 {
			return n, false, nil
		}
	}
	return n, false, nil
}

// data takes content bytes.
func (r *Body) data(b []byte) int {
	n := int(min(int64(len(b)), r.left))
	r.Bytes = append(r.Bytes, b[:n]...)
	r.left -= int64(n)
	return n
}

// step takes the next part of a chunked body, 0 bytes when it is not all there.
func (r *Body) step(b []byte) (int, bool, *Error) {
	if r.state == chunkData {
		n := r.data(b)
		if r.left == 0 {
			r.state = chunkEnd
			if n == 0 {
				return r.step(b)
			}
		}
		return n, false, nil
	}
	line, n, err := chunkLine(b)
	if n == 0 || err != nil {
		return 0, false, err
	}
	switch r.state {
	case chunkEnd:
		if len(line) > 0 {
			return 0, false, malformed("a chunk is longer than it says")
		}
		r.state = chunkSize
	case chunkTrailer:
		if r.trailer += n; r.trailer > MaxChunkLine {
			return 0, false, malformed("the trailers are too long")
		}
		return n, len(line) == 0, nil
	default:
		return n, false, r.size(line)
	}
	return n, false, nil
}

// size reads a chunk's size line.
func (r *Body) size(line []byte) *Error {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 8 {
		return malformed("a chunk size is malformed")
	}
	n := int64(0)
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return malformed("a chunk size is malformed")
		}
	}
	r.left, r.state = n, chunkData
	if n == 0 {
		r.state = chunkTrailer
	}
	r.Over = int64(len(r.Bytes))+n > r.limit
	return nil
}

// chunkLine cuts a line off b and returns how long it is with its CRLF; 0 when
// it has not ended.
func chunkLine(b []byte) ([]byte, int, *Error) {
	i := bytes.IndexByte(b, '\n')
	switch {
	case i > MaxChunkLine || i < 0 && len(b) > MaxChunkLine:
		return nil, 0, malformed("a line of the chunked body is too long")
	case i < 0:
		return nil, 0, nil
	case i == 0 || b[i-1] != '\r':
		return nil, 0, malformed("a line of the chunked body does not end in CRLF")
	}
	if bytes.IndexByte(b[:i-1], '\r') >= 0 {
		return nil, 0, malformed("a line of the chunked body has a stray CR")
	}
	return b[:i-1], i + 1, nil
}
