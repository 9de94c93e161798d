package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	maxLayers = 3         // gzip in gzip happens; more is a trick
	maxWindow = 256 << 20 // zstd --long=28; memory of the decoder
)

// layer returns the decompressor for the magic number, nil for plain bytes. Of
// gzip all members are read, of zstd all frames.
func (s *Source) layer(r *bufio.Reader, magic []byte) (io.Reader, error) {
	is := func(m string) bool { return bytes.HasPrefix(magic, []byte(m)) }
	switch {
	case is("\x1f\x8b"):
		return newGzip(r)
	case isFramed(magic):
		f, err := newFramed(r)
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, f.z.Close)
		return f, nil
	case is(zstdMagic), len(magic) > 3 && magic[0]&0xf0 == 0x50 && string(magic[1:4]) == "\x2a\x4d\x18": // a frame, or one to skip
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, z.Close)
		return z, nil
	case is("BZh") && len(magic) == 10 && (string(magic[4:]) == "1AY&SY" || string(magic[4:]) == "\x17rE8P\x90"):
		return bzip2.NewReader(r), nil
	case is("\xff\x06\x00\x00sNaPpY"), is("\xff\x06\x00\x00S2sTwO"):
		return s2.NewReader(r, s2.ReaderMaxBlockSize(4<<20)), nil
	case is("\xfd7zXZ\x00"):
		return nil, Damaged("is compressed with xz, which is not read here; unpack it with xz -d first")
	case is("\x04\x22\x4d\x18"), is("\x02\x21\x4c\x18"):
		return nil, Damaged("is compressed with lz4, which is not read here; unpack it with lz4 -d first")
	case is("7z\xbc\xaf\x27\x1c"), is("Rar!"):
		return nil, Damaged("is a 7z or RAR archive, which is not read here; unpack it first")
	}
	return nil, nil
}

// hole reads over the zero bytes that a text begins with, and counts them. A file
// that was emptied while its writer kept its place begins with such a hole
// (logrotate's copytruncate).
type hole struct {
	r    *bufio.Reader
	size *int64
	past bool
}

func (h *hole) Read(p []byte) (int, error) {
	if !h.past {
		n, err := skipZeros(h.r)
		*h.size += n
		if err != nil {
			return 0, err
		}
		h.past = true
	}
	return h.r.Read(p)
}

// plainText turns UTF-16 into UTF-8, told by its byte order mark or by an ASCII
// text's zero bytes.
func plainText(br *bufio.Reader) io.Reader {
	h, _ := br.Peek(8)
	order := unicode.LittleEndian
	switch {
	case len(h) < 4, string(h[:4]) == "\xff\xfe\x00\x00", string(h[:4]) == "\xff\xff\xff\xff":
		return br
	case h[0] == 0xff && h[1] == 0xfe, asciiPair(h, 0):
	case h[0] == 0xfe && h[1] == 0xff, asciiPair(h, 1):
		order = unicode.BigEndian
	default:
		return br
	}
	return transform.NewReader(br, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
}

// asciiPair reports whether four characters of ASCII stand in pairs with zero
// bytes.
func asciiPair(h []byte, at int) bool {
	if len(h) < 8 {
		return false
	}
	for i := 0; i < 8; i += 2 {
		if c := h[i+at]; h[i+1-at] != 0 || c >= 0x7f || (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
			return false
		}
	}
	return true
}
