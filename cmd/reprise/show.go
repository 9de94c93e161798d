package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"reprise/fit/page"
	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/sanitize/bundle"
	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
)

type showOptions struct {
	asJSON bool
	csv    bool
	jsonl  bool
	html   bool
	output string
}

// shown is an artifact that can be looked at.
type shown interface {
	text(w io.Writer) error
	value() any               // what --json prints
	rows() (rowSource, error) // what --csv and --jsonl print
}

func newShow(s *stdio) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Say what an artifact is; --csv and --jsonl give its raw rows",
		Long: `Show says what an artifact is: a trace, a spec, a bundle (folder or .tar.zst),
an audit, a law of the mock, a results folder or the folder of a sweep. --json
prints the same as JSON; --csv and --jsonl print the raw rows of a trace or of
results; --html writes a page of a spec.

Results have two more tables, which are shown by their names: health.parquet, how
the client was second by second, and server.parquet, the server's own metrics.`,
		Example: `  reprise show day.trace.parquet
  reprise show run/ --csv > requests.csv
  reprise show run/health.parquet --csv > health.csv`,
		Args: exactly(1, "one artifact"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(s, args[0]) },
	}
	c.Flags().BoolVar(&o.asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&o.csv, "csv", false, "print the rows as CSV")
	c.Flags().BoolVar(&o.jsonl, "jsonl", false, "print the rows as JSON lines")
	c.Flags().BoolVar(&o.html, "html", false, "a page with charts, of a spec")
	c.MarkFlagsMutuallyExclusive("json", "csv", "jsonl", "html")
	outputFlag(c, &o.output, "file to write")
	return c
}

func (o *showOptions) run(s *stdio, path string) error {
	a, closeIt, err := s.recognise(path)
	if err != nil {
		return err
	}
	defer closeIt()
	return s.write(o.output, 0o644, false, func(w io.Writer) error {
		switch {
		case o.asJSON:
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			return e.Encode(a.value())
		case o.csv, o.jsonl:
			rows, err := a.rows()
			if err != nil {
				return err
			}
			if o.csv {
				return rows.csv(w)
			}
			return rows.jsonl(w)
		case o.html:
			sp, err := specOf(a)
			if err != nil {
				return err
			}
			return page.HTML(w, sp)
		}
		return a.text(w)
	})
}

// recognise tells an artifact by its content.
func (s *stdio) recognise(path string) (shown, func(), error) {
	none := func() {}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return recogniseDir(path)
	}
	if a, done, err := recognisePart(path); a != nil || err != nil {
		return a, done, err
	}
	in, err := s.open(path)
	if err != nil {
		return nil, none, err
	}
	head := make([]byte, 4)
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		in.Close()
		return nil, none, err
	}
	switch {
	case string(head) == "PAR1":
		if f, err := keys.Open(in, in.size); err == nil {
			return &shownKeys{f, in}, func() { in.Close() }, nil
		}
		f, err := trace.Open(in, in.size)
		if err != nil {
			in.Close()
			return nil, none, ofResults(fmt.Errorf("%s: %w", in.name, err), path)
		}
		return &shownTrace{f, in}, func() { in.Close() }, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		in.Close()
		b, err := bundle.Open(path)
		if err != nil {
			return nil, none, err
		}
		return &shownBundle{b}, func() { b.Close() }, nil
	}
	defer in.Close()
	data, err := in.bytes()
	if err != nil {
		return nil, none, err
	}
	a, err := recogniseJSON(data)
	if err != nil {
		return nil, none, fmt.Errorf("%s: %w", in.name, err)
	}
	return a, none, nil
}

func recogniseDir(path string) (shown, func(), error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(path, name))
		return err == nil
	}
	switch {
	case has("spec.json"):
		b, err := bundle.Open(path)
		if err != nil {
			return nil, func() {}, err
		}
		return &shownBundle{b}, func() { b.Close() }, nil
	case has("run.json"):
		d, err := replay.OpenDir(path)
		if err != nil {
			return nil, func() {}, err
		}
		return &shownRun{d}, func() { d.Close() }, nil
	case isSweep(path):
		x, err := readSweep(path)
		if err != nil {
			return nil, func() {}, err
		}
		return &shownSweep{x}, func() {}, nil
	}
	return nil, func() {}, fmt.Errorf("%s is no artifact of reprise: neither a bundle (spec.json), results (run.json) nor a sweep (sweep.json)", path)
}

func recogniseJSON(data []byte) (shown, error) {
	var k struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, errors.New("not an artifact of reprise: neither Parquet, zstd nor JSON (reprise ingest reads logs)")
	}
	switch k.Kind {
	case spec.Kind:
		sp, err := spec.Decode(data)
		if err != nil {
			return nil, err
		}
		return &shownSpec{sp}, nil
	case bundle.AuditKind:
		a, err := bundle.DecodeAudit(data)
		if err != nil {
			return nil, err
		}
		return &shownJSON{"audit", a}, nil
	case engine.LawKind:
		l, err := engine.DecodeLaw(data)
		if err != nil {
			return nil, err
		}
		return &shownJSON{"law", l}, nil
	case replay.RunKind:
		r, err := replay.DecodeRun(data)
		if err != nil {
			return nil, err
		}
		return &shownJSON{"run", r}, nil
	case sweepKind:
		x, err := decodeSweep(data)
		if err != nil {
			return nil, err
		}
		return &shownSweep{x}, nil
	}
	return nil, fmt.Errorf("not an artifact of reprise: its kind is %.40q", k.Kind)
}

// specOf is the spec that an artifact is, or holds.
func specOf(a shown) (*spec.Spec, error) {
	switch a := a.(type) {
	case *shownSpec:
		return a.s, nil
	case *shownBundle:
		return a.b.Spec, nil
	}
	return nil, errors.New("--html shows a spec, or the spec of a bundle; results have their page by reprise report --html")
}
