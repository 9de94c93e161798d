package replay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// The spool is a file of frames, each written whole by one write:
//
//	"RSP1"  kind (1 byte)  length (4, little-endian)  CRC-32C of kind, length and payload (4)  payload
//
// A payload is records, each a uvarint length and its bytes. A run that is
// killed leaves a last frame that is cut or absent; every other frame reads, those
// behind a damaged one too: the next is where magic and checksum hold again.
const (
	frameMagic = "RSP1"
	frameHead  = 13
	maxFrame   = 64 << 20
)

// The kinds of frames.
const (
	frameResults byte = 'Q'
	frameHealth  byte = 'H'
	frameServer  byte = 'S'
	frameSaid    byte = 'T'
	frameAccount byte = 'A'
)

var errCut = errors.New("the spool ends inside a frame")

// readAhead is how much of a spool is read at once.
const readAhead = 1 << 20

// maxSearch bounds what is read in vain behind damage, in bytes: magic that is
// followed by no frame.
const maxSearch = 1 << 30

// wholeFrames calls each for every whole frame of a file of size bytes, and
// returns how many bytes are in none.
func wholeFrames(f io.ReaderAt, size int64, each func(frame) error) (lost int64, err error) {
	for at, vain := int64(0), int64(0); ; {
		base := at
		good, err := frames(io.NewSectionReader(f, at, size-at), size-at, func(q frame) error {
			q.at += base
			return each(q)
		})
		if !errors.Is(err, errCut) {
			return lost, err
		}
		next := size
		if vain < maxSearch {
			if next, err = nextMagic(f, at+good+1, size); err != nil {
				return lost, err
			}
		}
		lost += next - at - good
		if next >= size {
			return lost, nil
		}
		vain += min(readAhead, size-at) + min(int64(frameLength(f, at+good)), size-at)
		at = next
	}
}

// frameLength is what the head of a frame says it takes; 0 where there is none.
func frameLength(f io.ReaderAt, at int64) uint32 {
	var head [frameHead]byte
	if n, _ := f.ReadAt(head[:], at); n < frameHead {
		return 0
	}
	return min(binary.LittleEndian.Uint32(head[5:]), maxFrame)
}

// nextMagic returns where the magic of a frame next stands, size when nowhere.
func nextMagic(f io.ReaderAt, at, size int64) (int64, error) {
	buf := make([]byte, 1<<16)
	for at < size {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && err != io.EOF {
			return size, err
		}
		if k := bytes.Index(buf[:n], []byte(frameMagic)); k >= 0 {
			return at + int64(k), nil
		}
		if n < len(frameMagic) {
			return size, nil
		}
		at += int64(n - len(frameMagic) + 1)
	}
	return size, nil
}

// checksum is the CRC-32C of a frame; crc32 keeps the table.
func checksum(kind byte, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	var head [5]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	return crc32.Update(crc32.Checksum(head[:], table), table, payload)
}

// appendFrame appends a frame to dst.
func appendFrame(dst []byte, kind byte, payload []byte) []byte {
	dst = append(dst, frameMagic...)
	dst = append(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, checksum(kind, payload))
	return append(dst, payload...)
}

// frame is one frame as read: where its payload starts, and the payload, which
// is good until the next read.
type frame struct {
	kind    byte
	at      int64
	payload []byte
}

// frames calls each for every whole frame of r, of size bytes. It returns how many bytes they
// take; errCut when more bytes follow that are not a whole frame.
func frames(r io.Reader, size int64, each func(frame) error) (good int64, err error) {
	in := bufio.NewReaderSize(r, int(min(size, readAhead)))
	var head [frameHead]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return good, nil
		} else if err != nil {
			return good, cutOr(err)
		}
		n := binary.LittleEndian.Uint32(head[5:])
		if string(head[:4]) != frameMagic || int64(n) > min(maxFrame, size-good-frameHead) {
			return good, errCut
		}
		if buf, err = readN(in, buf[:0], int(n)); err != nil {
			return good, cutOr(err)
		}
		if checksum(head[4], buf) != binary.LittleEndian.Uint32(head[9:]) {
			return good, errCut
		}
		if err := each(frame{head[4], good + frameHead, buf}); err != nil {
			return good, err
		}
		good += frameHead + int64(n)
	}
}

func cutOr(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// readN reads n bytes into buf's memory, or more of it.
func readN(r io.Reader, buf []byte, n int) ([]byte, error) {
	buf = slices.Grow(buf, n)[:n]
	_, err := io.ReadFull(r, buf)
	return buf, err
}

// records calls each for every record of a payload with its offset in it.
func records(payload []byte, each func(at int, rec []byte) error) error {
	for at := 0; at < len(payload); {
		n, k := binary.Uvarint(payload[at:])
		if k <= 0 || n > uint64(len(payload)-at-k) {
			return fmt.Errorf("damaged spool: a record of %d bytes does not fit its frame", n)
		}
		at += k
		if err := each(at, payload[at:at+int(n)]); err != nil {
			return err
		}
		at += int(n)
	}
	return nil
}
