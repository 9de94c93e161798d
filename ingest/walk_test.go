package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/rows"
)

// outcome is what becomes of one file of ../shared/data.
type outcome struct {
	source, container string
	kept, rejected    int
	excluded          map[Rule]int
	in, out           int64 // sums of the tokens that the log counts
	fields            []string
	err               string
}

// readOutcome reads a file to its end.
func readOutcome(path string, known []schema) outcome {
	o := outcome{excluded: map[Rule]int{}}
	in := Inputs{Paths: []string{path}}
	l, err := openAs(context.Background(), in, known)
	if err != nil {
		o.err = err.Error()
		return o
	}
	for r, err := range l.Records() {
		var bad *rows.Error
		switch {
		case errors.As(err, &bad):
			o.rejected++
		case err != nil:
			o.err = err.Error()
		case r.Rule != "":
			o.excluded[r.Rule]++
		default:
			o.kept++
			o.in += int64(r.InputTokens.V)
			o.out += int64(r.OutputTokens.V)
		}
	}
	o.source, o.container = l.Schema().Name, l.Found()[0].Container
	for _, c := range l.Coverage() {
		o.fields = append(o.fields, c.Field.String())
	}
	return o
}

// String is a line of testdata/shared_files.txt, without the file's name.
func (o *outcome) String() string {
	if o.err != "" {
		return "no log"
	}
	s := fmt.Sprintf("%s; %s; kept %d", o.source, o.container, o.kept)
	if o.rejected > 0 {
		s += fmt.Sprintf(", rejected %d", o.rejected)
	}
	var rules []Rule
	for r := range o.excluded {
		rules = append(rules, r)
	}
	slices.Sort(rules)
	for _, r := range rules {
		s += fmt.Sprintf(", %s %d", r, o.excluded[r])
	}
	return s + fmt.Sprintf("; tokens %d %d", o.in, o.out)
}

// sharedFiles lists the files of ../shared/data that are data.
func sharedFiles(t *testing.T) (root string, files []string) {
	root = shared(t, "data")
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".md") || d.Name() == "LICENSE" {
			return err
		}
		rel, err := filepath.Rel(root, p)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, files
}

// Every public file is recognised with no flag, or is no log and said to be
// none. Requests, excluded rows and sums of tokens were counted apart from this
// program, by scripts over the files (json, csv and yaml of Python), except for
// the lines that begin with ~, whose numbers are this program's own: -update
// writes those anew, and no others.
func TestSharedFiles(t *testing.T) {
	root, files := sharedFiles(t)
	known, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("..", "testdata", "shared_files.txt")
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]outcome{}
	for _, f := range files {
		got[f] = readOutcome(filepath.Join(root, f), known)
	}
	want := map[string]string{}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if own, ours := strings.CutPrefix(name, "~"); ours && *update {
			o := got[own]
			rest = o.String()
			line = "~" + own + ": " + rest + "\n"
		}
		if ok && !strings.HasPrefix(line, "#") {
			want[strings.TrimPrefix(name, "~")] = rest
		}
		out.WriteString(line)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		o := got[f]
		if got := o.String(); got != want[f] {
			t.Errorf("%s: %s\nwant %s", f, got, want[f])
		}
		t.Logf("%s: %s; %s", f, o.String(), strings.Join(o.fields, " "))
		delete(want, f)
	}
	for f := range want {
		t.Errorf("%s is not there", f)
	}
}
