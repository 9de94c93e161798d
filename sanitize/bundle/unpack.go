package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// What Unpack takes at most. The data files are compressed already, so an
// archive that grows a hundredfold is an attack.
const (
	maxData   = 64 << 30 // trace.parquet, prompts.parquet
	maxGrowth = 100
	slack     = 16 << 20
	maxWindow = 16 << 20
)

var errTooLarge = errors.New("the archive grows beyond every honest size")

// Unpack reads a .tar.zst from r into the new directory dir. It takes only
// plain files with the names of a bundle, each once, refuses an archive that
// grows out of proportion, and leaves nothing under the name after an error.
// It checks no hash: Verify does.
func Unpack(r io.Reader, dir string) error {
	if err := absent(dir); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".bundle-")
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := unpack(r, tmp); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return publish(tmp, dir)
}

func unpack(r io.Reader, dir string) error {
	packed := &counter{r: r}
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxData))
	if err != nil {
		return err
	}
	defer z.Close()
	t := tar.NewReader(&bounded{r: z, packed: packed})
	// Sparse entries make zeros out of nothing, so what comes out of the tar
	// reader is bounded too.
	content := &bounded{r: t, packed: packed}
	if err := os.Mkdir(filepath.Join(dir, SignDir), 0o755); err != nil {
		return err
	}
	seen := map[string]bool{}
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return archiveError(err)
		}
		if err := entry(content, h, dir, seen); err != nil {
			return err
		}
	}
	if !seen[SpecFile] {
		return fmt.Errorf("the archive is not a bundle: it has no %s", SpecFile)
	}
	return nil
}

// archiveError keeps our own words and says what the rest means.
func archiveError(err error) error {
	if errors.Is(err, errTooLarge) {
		return errTooLarge
	}
	return fmt.Errorf("not a .tar.zst of a bundle, or damaged: %w", err)
}

// entry writes one file. Folders are ours to make, so an entry for signatures
// is passed over.
func entry(content io.Reader, h *tar.Header, dir string, seen map[string]bool) error {
	if h.Typeflag == tar.TypeDir && (h.Name == SignDir+"/" || h.Name == "./") {
		return nil
	}
	switch {
	case h.Typeflag != tar.TypeReg:
		return errors.New("the archive holds a link, a folder or a device")
	case !isKnown(h.Name) || !filepath.IsLocal(h.Name):
		return errors.New("the archive holds a file that does not belong to a bundle")
	case seen[h.Name]:
		return fmt.Errorf("the archive holds %s twice", h.Name)
	case h.Size < 0 || h.Size > limit(h.Name):
		return fmt.Errorf("%s is larger than %d bytes", h.Name, limit(h.Name))
	}
	seen[h.Name] = true
	return create(filepath.Join(dir, filepath.FromSlash(h.Name)), func(f *os.File) error {
		if _, err := io.Copy(f, content); err != nil {
			return archiveError(err)
		}
		return nil
	})
}

func limit(name string) int64 {
	switch name {
	case TraceFile, PromptsFile:
		return maxData
	case SignatureFile(Customer), SignatureFile(Vendor):
		return maxSig
	}
	return maxSmall
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends with an error when more comes out than an honest archive of
// that size can hold.
type bounded struct {
	r      io.Reader
	packed *counter
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.n > maxGrowth*b.packed.n+slack {
		return 0, errTooLarge
	}
	return n, err
}
