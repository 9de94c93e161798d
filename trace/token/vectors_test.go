package token

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vectors is testdata/vectors/vectors.json.gz: ids, or hashes of ids, that OpenAI's
// tiktoken gave. The README beside it tells how it was made.
type vectors struct {
	Nasty, Invalid []vectorRow
	Fuzz           []vectorFamily
	Contexts       []string
	CodePoints     []vectorBlock `json:"code points"`
	Long           []vectorLong
}

// vectorRow is one text, in Hex if it is not UTF-8, with its ids.
type vectorRow struct {
	Text, Hex string
	CL100K    []int32 `json:"cl100k_base"`
	O200K     []int32 `json:"o200k_base"`
}

// vectorHash holds one hash of ids per tokenizer.
type vectorHash struct {
	CL100K string `json:"cl100k_base"`
	O200K  string `json:"o200k_base"`
}

// vectorFamily describes random documents of Least to Most parts, with one hash
// for every 500.
type vectorFamily struct {
	Name                         string
	Parts                        []string
	Documents, Least, Most, Seed int
	Hashes                       []vectorHash
}

// vectorBlock is the hash of 256 code points in every context.
type vectorBlock struct {
	First rune
	vectorHash
}

// vectorLong describes a text of Bytes bytes: the parts one after the other, or
// chosen by Seed.
type vectorLong struct {
	Name        string
	Parts       []string
	Seed, Bytes int
	Tokens      map[string]int
	Hashes      vectorHash
}

func (r vectorRow) want(name string) []int32 {
	if name == "cl100k_base" {
		return r.CL100K
	}
	return r.O200K
}

func (h vectorHash) want(name string) string {
	if name == "cl100k_base" {
		return h.CL100K
	}
	return h.O200K
}

func loadVectors(tb testing.TB) vectors {
	tb.Helper()
	f, err := os.Open("testdata/vectors/vectors.json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var v vectors
	if err := json.NewDecoder(z).Decode(&v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// splitMix64 is the generator of Steele, Lea and Flood (2014), as make.py has it.
type splitMix64 uint64

func (s *splitMix64) next(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(n))
}

// idHash is the hash of make.py over the ids of one document after the other.
type idHash struct {
	h   hash.Hash
	buf []byte
}

func newIDHash() *idHash { return &idHash{h: sha256.New()} }

func (h *idHash) add(ids []int32) {
	h.buf = binary.LittleEndian.AppendUint32(h.buf[:0], uint32(len(ids)))
	for _, id := range ids {
		h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(id))
	}
	h.h.Write(h.buf)
}

func (h *idHash) hex() string { return hex.EncodeToString(h.h.Sum(nil)[:8]) }

// eachTokenizer runs f as a subtest for both embedded tokenizers.
func eachTokenizer(t *testing.T, f func(t *testing.T, tok *Tokenizer)) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { f(t, tok) })
	}
}

// encodeChecked returns the ids of text and fails if Count says another number.
func encodeChecked(t *testing.T, tok *Tokenizer, dst []int32, text string) []int32 {
	ids := tok.Encode(dst[:0], text)
	if n := tok.Count(text); n != len(ids) {
		t.Errorf("%s: count %d, %d ids for %.200q", tok.Name(), n, len(ids), text)
	}
	return ids
}

func TestVectorsNasty(t *testing.T) {
	v := loadVectors(t)
	eachTokenizer(t, func(t *testing.T, tok *Tokenizer) {
		for _, row := range append(v.Nasty, v.Invalid...) {
			text := row.Text
			if row.Hex != "" {
				raw, err := hex.DecodeString(row.Hex)
				if err != nil {
					t.Fatal(err)
				}
				text = string(raw)
			}
			if got := encodeChecked(t, tok, nil, text); !equal(got, row.want(tok.Name())) {
				t.Errorf("%q is %v, tiktoken %v", text, got, row.want(tok.Name()))
			}
		}
	})
	if len(v.Nasty) < 900 || len(v.Invalid) < 2000 {
		t.Errorf("%d texts and %d invalid ones", len(v.Nasty), len(v.Invalid))
	}
}

// fuzzDocument is document k of the family.
func (f vectorFamily) fuzzDocument(b *strings.Builder, k int) string {
	b.Reset()
	rng := splitMix64(uint64(f.Seed)<<32 | uint64(k))
	for range f.Least + rng.next(f.Most-f.Least+1) {
		b.WriteString(f.Parts[rng.next(len(f.Parts))])
	}
	return b.String()
}

func TestVectorsFuzz(t *testing.T) {
	v := loadVectors(t)
	eachTokenizer(t, func(t *testing.T, tok *Tokenizer) {
		docs, wrong := 0, 0
		var b strings.Builder
		var ids []int32
		for _, f := range v.Fuzz {
			for i, want := range f.Hashes {
				h := newIDHash()
				for k := 500 * i; k < min(500*(i+1), f.Documents); k++ {
					ids = encodeChecked(t, tok, ids, f.fuzzDocument(&b, k))
					h.add(ids)
					docs++
				}
				if h.hex() != want.want(tok.Name()) {
					t.Errorf("%s: documents %d to %d differ from tiktoken's", f.Name, 500*i, 500*i+499)
					wrong++
				}
			}
		}
		t.Logf("%d documents, %d groups differ", docs, wrong)
		if docs < 60000 {
			t.Errorf("%d documents", docs)
		}
	})
}

// contextsOf yields the documents of the 256 code points from first.
func contextsOf(first rune, contexts []string, yield func(string)) {
	for c := first; c < first+256; c++ {
		if c >= 0xD800 && c <= 0xDFFF {
			continue
		}
		for _, context := range contexts {
			yield(strings.ReplaceAll(context, "X", string(c)))
		}
	}
}

// full tells whether to run every vector; else some of those that are much alike
// are left out, which saves seconds.
func full() bool { return os.Getenv("REPRISE_TOKEN_FULL") != "" }

// alike tells whether block i, from first on, has hundreds of neighbours of one
// class: Chinese, Korean, the planes after the first two.
func alike(i int, first rune) bool {
	return i%8 != 0 && (first >= 0x3500 && first < 0x9F00 || first >= 0xAD00 && first < 0xD700 || first >= 0x20100)
}

func TestVectorsCodePoints(t *testing.T) {
	v := loadVectors(t)
	least := 6 * 0x16000
	if full() {
		least = 6 * 0x40000
	}
	eachTokenizer(t, func(t *testing.T, tok *Tokenizer) {
		docs := 0
		var ids []int32
		for i, block := range v.CodePoints {
			if !full() && alike(i, block.First) {
				continue
			}
			h := newIDHash()
			contextsOf(block.First, v.Contexts, func(doc string) {
				ids = tok.Encode(ids[:0], doc)
				h.add(ids)
				docs++
			})
			if h.hex() != block.want(tok.Name()) {
				t.Errorf("code points from %U differ from tiktoken's", block.First)
			}
		}
		t.Logf("%d documents", docs)
		if docs < least {
			t.Errorf("%d documents", docs)
		}
	})
}

// text builds the long text.
func (l vectorLong) text() string {
	var b strings.Builder
	rng := splitMix64(l.Seed)
	for i := 0; b.Len() < l.Bytes; i++ {
		k := i % len(l.Parts)
		if l.Seed != 0 {
			k = rng.next(len(l.Parts))
		}
		b.WriteString(l.Parts[k])
	}
	return b.String()
}

// TestVectorsLong encodes megabytes of one thing: a quadratic step anywhere
// would not end. Unless all are asked for, each is for one of the tokenizers.
func TestVectorsLong(t *testing.T) {
	v := loadVectors(t)
	if len(v.Long) < 40 {
		t.Errorf("%d texts", len(v.Long))
	}
	eachTokenizer(t, func(t *testing.T, tok *Tokenizer) {
		var ids []int32
		for i, l := range v.Long {
			if !full() && (i%2 == 0) != (tok.Name() == "o200k_base") {
				continue
			}
			text := l.text()
			ids = tok.Encode(ids[:0], text)
			h := newIDHash()
			h.add(ids)
			if len(ids) != l.Tokens[tok.Name()] || h.hex() != l.Hashes.want(tok.Name()) {
				t.Errorf("%s: %d ids, tiktoken %d, and another hash", l.Name, len(ids), l.Tokens[tok.Name()])
			}
		}
	})
}

// TestOracle compares every document of a folder that make.py wrote. It is large
// and not kept here: name the folder by REPRISE_TOKEN_ORACLE.
func TestOracle(t *testing.T) {
	dir := os.Getenv("REPRISE_TOKEN_ORACLE")
	if dir == "" {
		t.Skip("SKIPPED: REPRISE_TOKEN_ORACLE names no folder made by testdata/vectors/make.py")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.docs"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no .docs file in %s: %v", dir, err)
	}
	eachTokenizer(t, func(t *testing.T, tok *Tokenizer) {
		total, differ := 0, 0
		for _, path := range paths {
			n, bad := compareOracle(t, tok, path)
			t.Logf("%-30s %8d documents compared, %d differ", filepath.Base(path), n, bad)
			total, differ = total+n, differ+bad
		}
		t.Logf("%s: %d documents compared with tiktoken, %d differ", tok.Name(), total, differ)
		if total == 0 {
			t.Error("no document")
		}
	})
}

// compareOracle reads the documents of path and their ids' hashes beside it.
func compareOracle(t *testing.T, tok *Tokenizer, path string) (docs, differ int) {
	want, err := os.ReadFile(strings.TrimSuffix(path, "docs") + tok.Name() + ".ids")
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var ids []int32
	var raw []byte
	for ; ; docs++ {
		doc, err := readDocument(r)
		if err == io.EOF && len(want) == 12*docs {
			return docs, differ
		}
		if err != nil || len(want) < 12*(docs+1) {
			t.Errorf("%s: document %d of %d hashes: %v", path, docs, len(want)/12, err)
			return docs, differ
		}
		ids = encodeChecked(t, tok, ids, doc)
		raw = raw[:0]
		for _, id := range ids {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(id))
		}
		sum := sha256.Sum256(raw)
		row := want[12*docs : 12*docs+12]
		if binary.LittleEndian.Uint32(row) == uint32(len(ids)) && bytes.Equal(row[4:], sum[:8]) {
			continue
		}
		if differ++; differ <= 5 {
			t.Errorf("%s: document %d has %d ids, tiktoken %d: %.300q", filepath.Base(path), docs, len(ids), binary.LittleEndian.Uint32(row), doc)
		}
	}
}

// readDocument reads one document behind its length.
func readDocument(r io.Reader) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	doc := make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, doc)
	return string(doc), err
}
