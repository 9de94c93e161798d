package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

const polarsFile = "../../testdata/columnar/polars.zstd.arrow"

// Polars begins its files with a schema that no stream has; the footer says
// where the batches are.
func TestArrowPolars(t *testing.T) {
	out := columnarRows(t, polarsFile)
	if len(out) != 200 {
		t.Fatalf("%d rows", len(out))
	}
	row := out[199].(map[string]any)
	if row["model"] == nil || row["input_tokens"] == nil || row["output_tokens"] == nil {
		t.Error(row)
	}
}

// By the footer and from the start, a file of pyarrow is the same. Without its
// end it is read as far as it goes.
func TestArrowFooterOrStart(t *testing.T) {
	data := readFile(t, "../../testdata/columnar/log.zstd.feather")
	at := &pagedReader{ctx: t.Context(), r: bytes.NewReader(data)}
	if b, err := arrowFooter(at, int64(len(data))); b == nil || err != nil || len(b.blocks) == 0 {
		t.Fatal("no footer:", err)
	}
	read := func(r rows.Reader, err error) ([]any, error) {
		if err != nil {
			t.Fatal(err)
		}
		defer r.(rows.Closer).Close()
		return drain(r)
	}
	byFooter, err := read(readArrow(t.Context(), "f", bytes.NewReader(data), int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	asStream, err := read(arrowStream("f", bytes.NewReader(data)))
	if err != nil || !reflect.DeepEqual(byFooter, asStream) {
		t.Error(err, "the two ways differ")
	}
	cut := data[:len(data)-1]
	got, err := read(readArrow(t.Context(), "f", bytes.NewReader(cut), int64(len(cut))))
	if !source.IsBroken(err) || !reflect.DeepEqual(got, byFooter) {
		t.Errorf("cut short: %d rows, %v", len(got), err)
	}
}

// Every byte of a footer is turned, one by one, and nothing is trusted.
func TestArrowFooterFlips(t *testing.T) {
	data := readFile(t, polarsFile)
	size := int(binary.LittleEndian.Uint32(data[len(data)-10:]))
	for i := len(data) - 10 - size; i < len(data); i++ {
		for _, flip := range []byte{0xff, 0x01, 0x80} {
			broken := bytes.Clone(data)
			broken[i] ^= flip
			r, err := readArrow(t.Context(), "f", bytes.NewReader(broken), int64(len(broken)))
			if err != nil {
				if !source.IsBroken(err) {
					t.Fatal(i, err)
				}
				continue
			}
			exhaust(t, r)
			r.(rows.Closer).Close()
		}
	}
}

// A failure of the disk is no damage, and a cancelled reading ends.
func TestArrowFailures(t *testing.T) {
	data := readFile(t, polarsFile)
	size := int64(len(data))
	disk := errors.New("disk")
	for n := range 3 {
		r, err := readArrow(t.Context(), "f", &failingAt{bytes.NewReader(data), n, disk}, size)
		if err == nil {
			_, err = drain(r)
		}
		if !errors.Is(err, disk) || source.IsBroken(err) {
			t.Error(n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readArrow(ctx, "f", bytes.NewReader(data), size); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// failingAt fails after some reads.
type failingAt struct {
	r    io.ReaderAt
	left int
	err  error
}

func (f *failingAt) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.r.ReadAt(b, off)
}
