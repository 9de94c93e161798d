package bundle

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"reprise/trace/sign"
)

func packed(t testing.TB, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Pack(dir, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPackRoundTrip(t *testing.T) {
	customer, vendor, signers := parties(t)
	b := written(t, input(sampleTrace(1, 200), "exact"))
	signAs(t, b, customer, vendor)
	data := packed(t, b.Dir())
	out := filepath.Join(t.TempDir(), "out")
	if err := Unpack(bytes.NewReader(data), out); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(filesOf(t, b.Dir()), filesOf(t, out)) {
		t.Error("the files differ")
	}
	if !bytes.Equal(data, packed(t, out)) {
		t.Error("packing again gives other bytes")
	}
	if err := Unpack(bytes.NewReader(data), out); err == nil {
		t.Error("Unpack wrote over a directory")
	}
	path := filepath.Join(t.TempDir(), "b.tar.zst")
	overwrite(t, path, data)
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if r := again.Verify(signers, noon, nil); !r.OK {
		t.Errorf("%+v", r)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(again.Dir()); err == nil {
		t.Error("Close leaves the unpacked files")
	}
}

// Stock tar and zstd would see plain files in order, without times and owners.
func TestPackHeaders(t *testing.T) {
	z, err := zstd.NewReader(bytes.NewReader(packed(t, written(t, input(sampleTrace(1, 60), "exact")).Dir())))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	last := ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name <= last || h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" || h.Mode != 0o644 {
			t.Errorf("entry %+v after %q", h, last)
		}
		last = h.Name
	}
	if last == "" {
		t.Error("no entries")
	}
}

func TestPackRefusesStrangers(t *testing.T) {
	b := written(t, input(sampleTrace(1, 60), "exact"))
	overwrite(t, filepath.Join(b.Dir(), "notes.txt"), []byte("x"))
	if err := Pack(b.Dir(), io.Discard); err == nil || !strings.Contains(err.Error(), "does not belong") {
		t.Errorf("error %v", err)
	}
}

// A packed bundle is signed in place.
func TestSignPacked(t *testing.T) {
	customer, vendor, signers := parties(t)
	path := filepath.Join(t.TempDir(), "b.tar.zst")
	overwrite(t, path, packed(t, written(t, input(sampleTrace(1, 60), "exact")).Dir()))
	for _, p := range []party{customer, vendor} {
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Sign(t.Context(), p.role, p.key, sign.Prompt{}); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r := b.Verify(signers, noon, nil); !r.OK {
		t.Errorf("%+v", r)
	}
}

// archive makes a .tar.zst of headers, each with as many zeros as it says.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func file(name string, size int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

func TestUnpackHostile(t *testing.T) {
	link := func(kind byte, name, to string) tar.Header {
		return tar.Header{Typeflag: kind, Name: name, Linkname: to, Mode: 0o777}
	}
	spec := file(SpecFile, 1)
	good := archive(t, spec)
	for want, data := range map[string][]byte{
		"does not belong to a bundle":       archive(t, spec, file("../evil", 1)),
		"does not belong to a bundle ":      archive(t, spec, file("/tmp/evil", 1)),
		"does not belong to a bundle  ":     archive(t, spec, file("signatures/../../evil", 1)),
		"does not belong to a bundle   ":    archive(t, spec, file("evil.sh", 1)),
		"does not belong to a bundle    ":   archive(t, spec, file("b/audit.json", 1)),
		"does not belong to a bundle     ":  archive(t, spec, file("AUDIT.json", 1)),
		"does not belong to a bundle      ": archive(t, spec, file("audit.json:x", 1)),
		"link, a folder or a device":        archive(t, link(tar.TypeSymlink, SpecFile, "/etc/passwd")),
		"link, a folder or a device ":       archive(t, spec, link(tar.TypeLink, AuditFile, "/etc/passwd")),
		"link, a folder or a device  ":      archive(t, spec, link(tar.TypeSymlink, SignDir, "/tmp")),
		"link, a folder or a device   ":     archive(t, spec, tar.Header{Typeflag: tar.TypeFifo, Name: AuditFile}),
		"link, a folder or a device    ":    archive(t, spec, tar.Header{Typeflag: tar.TypeDir, Name: "more/"}),
		"twice":                             archive(t, spec, spec),
		"no spec.json":                      archive(t),
		"larger than":                       archive(t, spec, file(AuditFile, maxSmall+1)),
		"larger than ":                      archive(t, spec, file(SignatureFile(Vendor), maxSig+1)),
		"every honest size":                 archive(t, spec, file(TraceFile, 200<<20)),
		"data follows the end":              archiveThen(t, spec, "x"),
		"damaged  ":                         append(bytes.Clone(good), "rubbish"...),
		"twice ":                            archive(t, spec, file("./"+SpecFile, 1)),
		"damaged":                           good[:len(good)/2],
		"damaged ":                          append([]byte("PK\x03\x04"), good...),
		"no spec.json ":                     {},
	} {
		parent := t.TempDir()
		err := Unpack(bytes.NewReader(data), filepath.Join(parent, "b"))
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error %v, want %q", err, want)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%q: left %v behind", want, left)
		}
	}
	for what, data := range map[string][]byte{
		"a plain archive":          good,
		"GNU tar of the folder .":  archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}, file("./"+SpecFile, 1), file("./"+SignatureFile(Vendor), 1)),
		"GNU tar of a folder":      archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "b/"}, file("b/"+SpecFile, 1), tar.Header{Typeflag: tar.TypeDir, Name: "b/signatures/"}),
		"padded with zeros":        archiveThen(t, spec, strings.Repeat("\x00", 8192)),
		"several frames, the last": append(bytes.Clone(good), emptyFrame(t)...),
	} {
		if err := Unpack(bytes.NewReader(data), filepath.Join(t.TempDir(), "b")); err != nil {
			t.Errorf("%s is refused: %v", what, err)
		}
	}
}

// archiveThen is an archive of one entry with more after its end.
func archiveThen(t testing.TB, h tar.Header, more string) []byte {
	t.Helper()
	d, err := zstd.NewReader(bytes.NewReader(archive(t, h)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(append(raw, more...), nil)
}

func emptyFrame(t testing.TB) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true))
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(nil, nil)
}

// A sparse entry states a length that no byte of the archive stands for.
func TestUnpackSparse(t *testing.T) {
	var raw bytes.Buffer
	w := tar.NewWriter(&raw)
	// What GNU tar writes for a file of 4 GiB of nothing, format 0.1. The writer
	// of archive/tar refuses these keys, so they are put in as another's.
	h := file(TraceFile, 0)
	h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{"XXX.sparse.map": "4294967296,0", "XXX.sparse.size": "4294967296", "XXX.sparse.numblocks": "1"}
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := bytes.ReplaceAll(raw.Bytes(), []byte("XXX.sparse"), []byte("GNU.sparse"))
	if h, err := tar.NewReader(bytes.NewReader(data)).Next(); err != nil || h.Size != 4<<30 {
		t.Fatalf("not read as sparse: %+v, %v", h, err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	err = Unpack(bytes.NewReader(z.EncodeAll(data, nil)), filepath.Join(t.TempDir(), "b"))
	if err == nil || !strings.Contains(err.Error(), "every honest size") {
		t.Errorf("error %v", err)
	}
}

// A damaged archive leaves a bundle's files or nothing: a fixed sample of what
// FuzzUnpack looks for.
func TestUnpackDamaged(t *testing.T) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := d.DecodeAll(archive(t, file(SpecFile, 10), file(TraceFile, 1000), file(SignatureFile(Customer), 9)), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 300 {
		spoiled := bytes.Clone(raw)
		for range 1 + rng.IntN(3) {
			spoiled[rng.IntN(len(spoiled))] = byte(rng.IntN(256))
		}
		parent := t.TempDir()
		err := Unpack(bytes.NewReader(z.EncodeAll(spoiled, nil)), filepath.Join(parent, "b"))
		left, _ := os.ReadDir(parent)
		if err != nil && len(left) > 0 || err == nil && len(left) != 1 {
			t.Fatalf("error %v, and %v in the folder", err, left)
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 || refused == 300 {
		t.Errorf("%d of 300 refused: the sample shows nothing", refused)
	}
}

// FuzzUnpack tries archives as they are, and tar streams that it compresses
// first, so that changes reach the headers.
func FuzzUnpack(f *testing.F) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, data := range [][]byte{
		archive(f, file(SpecFile, 10), file(TraceFile, 1000), file(SignatureFile(Customer), 9)),
		archive(f, file(SpecFile, 1), tar.Header{Typeflag: tar.TypeSymlink, Name: AuditFile, Linkname: "/"}),
	} {
		f.Add(data, false)
		raw, err := d.DecodeAll(data, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, compress bool) {
		if compress {
			data = z.EncodeAll(data, nil)
		}
		parent := t.TempDir()
		err := Unpack(bytes.NewReader(data), filepath.Join(parent, "b"))
		left, _ := os.ReadDir(parent)
		if err != nil && len(left) > 0 || err == nil && len(left) != 1 {
			t.Fatalf("error %v, and %v in the folder", err, left)
		}
		if err != nil {
			return
		}
		for name := range filesOf(t, filepath.Join(parent, "b")) {
			if !isKnown(name) {
				t.Fatalf("wrote %q", name)
			}
		}
	})
}
