package replay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The spool is a file of frames, each written whole by one write:
//
//	"RSP1"  kind (1 byte)  length (4, little-endian)  CRC-32C of kind, length and payload (4)  payload
//
// A payload is records, each a uvarint length and its bytes. A run that is
// killed leaves a last frame that is cut or absent; every frame before it reads.
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
)

var errCut = errors.New("the spool ends inside a frame")

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

// frames calls each for every whole frame of r. It returns how many bytes they
// take; errCut when more bytes follow that are not a whole frame.
func frames(r io.Reader, each func(frame) error) (good int64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	var head [frameHead]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return good, nil
		} else if err != nil {
			return good, cutOr(err)
		}
		n := binary.LittleEndian.Uint32(head[5:])
		if string(head[:4]) != frameMagic || n > maxFrame {
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

// readN reads n bytes, growing with what arrives rather than by what a damaged
// length claims.
func readN(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		step := min(n-len(buf), 1<<20)
		from := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(r, buf[from:]); err != nil {
			return buf, err
		}
	}
	return buf, nil
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
