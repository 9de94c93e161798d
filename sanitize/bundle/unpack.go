package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
	plain := &bounded{r: z, packed: packed}
	t := tar.NewReader(plain)
	// Sparse entries make zeros out of nothing, so what comes out of the tar
	// reader is bounded too.
	content := &bounded{r: t, packed: packed}
	if err := os.Mkdir(filepath.Join(dir, SignDir), 0o755); err != nil {
		return err
	}
	seen := map[string]bool{}
	var top folder
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return archiveError(err)
		}
		if err := entry(content, h, top.strip(h.Name), dir, seen); err != nil {
			return err
		}
	}
	if err := nothingMore(plain); err != nil {
		return err
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

// nothingMore refuses whatever follows the archive's end but its padding, since
// no signature covers it.
func nothingMore(r io.Reader) error {
	buf := make([]byte, 1<<15)
	for {
		n, err := r.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return errors.New("data follows the end of the archive")
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return archiveError(err)
		}
	}
}

// folder is the one folder that an archive made around the bundle's folder has
// in front of every name; archives that we make have none.
type folder struct {
	name string
	set  bool
}

// strip returns the name inside the bundle.
func (f *folder) strip(name string) string {
	name = strings.TrimPrefix(name, "./")
	if !f.set {
		f.set = true
		if first, _, ok := strings.Cut(name, "/"); ok && first != SignDir && first != ".." && first != "" {
			f.name = first + "/"
		}
	}
	return strings.TrimPrefix(name, f.name)
}

// entry writes one file. Folders are ours to make, so entries for the bundle's
// own and for signatures are passed over.
func entry(content io.Reader, h *tar.Header, name, dir string, seen map[string]bool) error {
	if h.Typeflag == tar.TypeDir && (name == SignDir+"/" || name == "") {
		return nil
	}
	switch {
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("the archive holds a link, a folder or a device: %.80q", h.Name)
	case !isKnown(name) || !filepath.IsLocal(name):
		return fmt.Errorf("the archive holds a file that does not belong to a bundle: %.80q", h.Name)
	case seen[name]:
		return fmt.Errorf("the archive holds %s twice", name)
	case h.Size < 0 || h.Size > limit(name):
		return fmt.Errorf("%s is larger than %d bytes", name, limit(name))
	}
	seen[name] = true
	return create(filepath.Join(dir, filepath.FromSlash(name)), func(f *os.File) error {
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
