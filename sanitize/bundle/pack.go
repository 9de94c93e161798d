package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// Pack writes the bundle dir as .tar.zst. The same files give the same bytes:
// entries come in order of their names, with no times and no owners. A file
// that is not a bundle's is an error.
func Pack(dir string, w io.Writer) error {
	b, err := openDir(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	names, err := b.files()
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	// One goroutine, so that block boundaries do not depend on the machine.
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	t := tar.NewWriter(z)
	for _, name := range names {
		if err := b.packFile(t, name); err != nil {
			z.Close()
			return fmt.Errorf("pack: %w", err)
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// files lists the files in order of name.
func (b *Bundle) files() ([]string, error) {
	var names []string
	err := fs.WalkDir(b.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return cause(err)
		case path == "." || path == SignDir && d.IsDir():
			return nil
		case !d.Type().IsRegular() || !isKnown(path):
			return fmt.Errorf("%q does not belong to a bundle: take it out first", path)
		}
		names = append(names, path)
		return nil
	})
	return names, err
}

func (b *Bundle) packFile(t *tar.Writer, name string) error {
	f, err := b.regular(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: st.Size(), Mode: 0o644, Format: tar.FormatUSTAR}
	if st.Size() >= 8<<30 { // more than USTAR can say
		h.Format = tar.FormatPAX
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
