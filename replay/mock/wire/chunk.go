package wire

import "fmt"

// ChunkRoom is where a chunk's size line goes once the size is known.
const ChunkRoom = "00000000\r\n"

// Frame makes a chunk of b, which begins with ChunkRoom; last adds the empty
// chunk that ends a body.
func Frame(b []byte, last bool) []byte {
	n := len(b) - len(ChunkRoom)
	for i := range 8 {
		b[7-i] = "0123456789abcdef"[n>>(4*i)&15]
	}
	b = append(b, "\r\n"...)
	if last {
		b = append(b, "0\r\n\r\n"...)
	}
	return b
}

// Trim drops the leading zeros of a chunk's size.
func Trim(b []byte) []byte {
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return b
}

// ShortChunk is a chunk whose size line promises twice what there is.
func ShortChunk(p []byte) []byte {
	return append(fmt.Appendf(nil, "%x\r\n", 2*len(p)+1), p...)
}
