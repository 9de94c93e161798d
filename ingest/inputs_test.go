package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

const twoColumns = "input_tokens,output_tokens\n"

// plant writes files, by path, below a new folder.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// dayFiles is a folder as object stores hold one: shards, and what stands
// beside them.
func dayFiles() map[string]string {
	return map[string]string{
		"day=1/hour=00/b.csv":     twoColumns + "1,1\n",
		"day=1/hour=00/a.csv.gz":  gzipped(twoColumns + "2,1\n"),
		"day=1/hour=01/c.jsonl":   `{"timestamp":1,"input_length":3,"output_length":4,"hash_ids":[1]}` + "\n",
		"day=1/hour=01/empty.csv": "",
		"manifest.json":           `{"entries":[{"url":"s3://b/k"}]}`,
		"README.md":               "# Logs\n\nof a day\n",
		"_SUCCESS":                "",
		".a.csv.crc":              "crc\x00",
		"_delta_log/0.json":       `{"add":{"path":"x"}}`,
		"broken.jsonl.gz":         gzipped("x")[:12],
	}
}

func counts(recs []Record) (out []int32) {
	for _, r := range recs {
		out = append(out, r.InputTokens.V)
	}
	return out
}

func TestFolder(t *testing.T) {
	dir := plant(t, dayFiles())
	l, recs, bad, err := readAll(t, Inputs{Paths: []string{dir}})
	if err != nil || fmt.Sprint(counts(recs)) != "[2 1 3]" || len(bad) != 0 {
		t.Fatal(counts(recs), bad, err)
	}
	var got []string
	for _, s := range l.Skipped() {
		rel, _ := filepath.Rel(dir, s.File)
		got = append(got, fmt.Sprintf("%s broken=%v", filepath.ToSlash(rel), s.Broken))
	}
	want := "README.md broken=false, broken.jsonl.gz broken=true, day=1/hour=01/empty.csv broken=false, manifest.json broken=false"
	if strings.Join(got, ", ") != want {
		t.Fatalf("%s", got)
	}
	if l.Broken() != 0.25 || len(l.Found()) != 2 || l.Found()[0].Files != 2 || len(l.Sources()) != 3 {
		t.Fatal(l.Broken(), l.Found(), l.Sources())
	}
}

func TestGlobs(t *testing.T) {
	dir := plant(t, map[string]string{"a/1.csv": twoColumns + "1,1\n", "a/b/2.csv": twoColumns + "2,1\n", "a/b/3.txt": twoColumns + "3,1\n"})
	for pattern, want := range map[string]string{"a/*.csv": "[1]", "a/**/*.csv": "[1 2]", "a/*": "[1 2 3]", "**/*.txt": "[3]", "a/b/[23].*": "[2 3]"} {
		_, recs, _, err := readAll(t, Inputs{Paths: []string{filepath.Join(dir, pattern)}})
		if err != nil || fmt.Sprint(counts(recs)) != want {
			t.Errorf("%s: %v %v", pattern, counts(recs), err)
		}
	}
	for path, want := range map[string]string{dir + "/*.nothing": "no file matches", dir + "/none": "no such file", t.TempDir(): "has no file in it", dir + "/[": "syntax error"} {
		if _, err := Open(t.Context(), Inputs{Paths: []string{path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func tarred(t testing.TB, dir string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.String()
}

func zipped(t testing.TB, dir string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.String()
}

// An archive gives what its folder gives, from a file and from a pipe.
func TestArchives(t *testing.T) {
	dir := plant(t, dayFiles())
	tarball := tarred(t, dir)
	for i, text := range []string{tarball, gzipped(tarball), zipped(t, dir), gzipped(zipped(t, dir))} {
		file := filepath.Join(t.TempDir(), "logs")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, in := range []Inputs{{Paths: []string{file}}, {Stdin: strings.NewReader(text)}} {
			l, recs, bad, err := readAll(t, in)
			if err != nil || fmt.Sprint(counts(recs)) != "[2 1 3]" || len(bad) > 0 || len(l.Skipped()) != 4 || l.Broken() != 0.25 {
				t.Fatal(i, counts(recs), bad, l.Skipped(), err)
			}
			if !strings.HasSuffix(recs[0].Pos.File, "/day=1/hour=00/a.csv.gz") || len(l.Sources()) != 1 || l.Sources()[0].Bytes != int64(len(text)) {
				t.Fatal(recs[0].Pos, l.Sources())
			}
		}
	}
}

// One object a file, thousands of them, in a folder and in an archive: none is
// looked at for longer than it takes, and none is lost.
func TestTinyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 1500 {
		files[fmt.Sprintf("%04d.json", i)] = fmt.Sprintf("{\n \"timestamp\": %d,\n \"input_length\": %d, \"output_length\": 4, \"hash_ids\": [1]}", i, i+1)
	}
	dir := plant(t, files)
	for _, in := range []Inputs{{Paths: []string{dir}}, {Stdin: strings.NewReader(tarred(t, dir))}} {
		l, recs, bad, err := readAll(t, in)
		if err != nil || len(recs) != 1500 || len(bad) > 0 || recs[1499].InputTokens.V != 1500 || l.Found()[0].Files != 1500 {
			t.Fatal(len(recs), bad, err, l.Found())
		}
		if n := len(l.Sources()); n != 1 {
			t.Fatalf("%d sources", n)
		}
	}
}

// A cut archive keeps the rows before the cut and says so.
func TestCutArchive(t *testing.T) {
	dir := plant(t, map[string]string{"1.csv": twoColumns + "1,1\n", "2.csv": twoColumns + strings.Repeat("2,1\n", 50_000)})
	text := tarred(t, dir)
	l, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(text[:60_000])})
	if err != nil || len(recs) < 10_000 || len(bad) == 0 || bad[len(bad)-1].Reason != rows.CutShort || l.Broken() == 0 {
		t.Fatal(len(recs), bad, err, l.Skipped())
	}
	bomb := zipped(t, plant(t, map[string]string{"1.csv": twoColumns + strings.Repeat("1,1\n", 8<<20)}))
	_, _, _, err = readAll(t, Inputs{Stdin: strings.NewReader(bomb), Limits: Limits{Floor: 1 << 20, Ratio: 20}})
	if !source.IsBomb(err) {
		t.Fatal(err)
	}
}
