package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/sanitize"
	"reprise/trace"
)

type inspectOptions struct {
	ingest ingestOptions
	json   bool
	output string
}

// inspection is what inspect found, for text and JSON alike.
type inspection struct {
	Found    []foundSource   `json:"found"`
	Skipped  []skippedFile   `json:"skipped,omitempty"`
	Counts   trace.Counts    `json:"counts"`
	First    []firstReject   `json:"first_rejected,omitempty"`
	Fields   []fieldShare    `json:"fields"`
	Unmapped []string        `json:"unmapped,omitempty"`
	Hidden   int             `json:"unmapped_hidden,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
	Fills    []sanitize.Fill `json:"fills"`
	Request  []string        `json:"data_request"`
	requests int64
}

type foundSource struct {
	Source    string `json:"source"`
	Container string `json:"container"`
	Files     int    `json:"files"`
	Why       string `json:"why"`
}

type skippedFile struct {
	File   string `json:"file"`
	Why    string `json:"why"`
	Broken bool   `json:"broken"`
}

type firstReject struct {
	Reason string   `json:"reason"`
	At     []string `json:"at"`
}

type fieldShare struct {
	Field string `json:"field"`
	Rows  int64  `json:"rows"`
}

func newInspect(s *stdio) *cobra.Command {
	var o inspectOptions
	c := &cobra.Command{
		Use:   "inspect LOG...",
		Short: "What is in this log, what it can fill of the spec, and what to ask for",
		Long: `Inspect reads logs as ingest would and writes nothing: which source and
container they are and why, what became of every row, which rows of the workload
spec they can fill and how well, and the data request: what to ask the customer
for to fill the rest, ready to paste into a mail.

Files, folders, patterns and - for standard input; gzip, zstd, tar and zip are
told by content.`,
		Example: `  reprise inspect export.csv
  reprise inspect logs/2026-11-*/ --json | jq .data_request`,
		Args: atLeast(1, "one log or more, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), s, args) },
	}
	c.Flags().StringArrayVar(&o.ingest.mapping, "map", nil, "field=column.path (#1, #2, ... in CSV without a header), or a mapping file; may be repeated")
	zoneFlag(c, &o.ingest.zone)
	c.Flags().StringVar(&o.ingest.policy, "policy", "", "what may be kept (YAML; see reprise init policy)")
	c.Flags().BoolVar(&o.json, "json", false, "JSON instead of text")
	outputFlag(c, &o.output, "file to write")
	return c
}

func (o *inspectOptions) run(ctx context.Context, s *stdio, paths []string) error {
	o.ingest.tokenizer = noTokenizer
	policy, err := o.ingest.readPolicy()
	if err != nil {
		return err
	}
	mapping, err := o.ingest.parseMap()
	if err != nil {
		return usageError{err}
	}
	log, rows, err := o.ingest.read(ctx, s, paths, policy, mapping, nil, [32]byte{})
	if rows != nil {
		defer rows.Close()
	}
	if err != nil {
		return err
	}
	in, err := inspected(ctx, log, rows)
	if err != nil {
		return err
	}
	return s.write(o.output, 0o600, false, func(w io.Writer) error {
		if o.json {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(in)
		}
		return in.print(w)
	})
}

// inspected gathers what the log and its rows tell.
func inspected(ctx context.Context, log *ingest.Log, rows *sanitize.Rows) (*inspection, error) {
	in := &inspection{Counts: rows.Account.Counts(), Unmapped: log.Unmapped(), Hidden: log.UnmappedHidden(), Notes: log.Notes()}
	for _, f := range log.Found() {
		in.Found = append(in.Found, foundSource{f.Name, f.Container, f.Files, f.Why})
	}
	for _, f := range log.Skipped() {
		in.Skipped = append(in.Skipped, skippedFile{f.File, f.Why, f.Broken})
	}
	for _, r := range sanitize.Reasons() {
		if at := rows.Account.First[r]; len(at) > 0 {
			x := firstReject{Reason: string(r)}
			for _, p := range at {
				x.At = append(x.At, p.String())
			}
			in.First = append(in.First, x)
		}
	}
	// Fields are counted before copies and retries are left out.
	requests := rows.Account.Kept
	for _, c := range log.Coverage() {
		requests = max(requests, c.Rows)
	}
	e := sanitize.Evidence{Requests: requests, Coverage: log.Coverage(), Timed: rows.Timed(), ResolutionUS: rows.Header.Time.ResolutionUS}
	for _, c := range e.Coverage {
		in.Fields = append(in.Fields, fieldShare{c.Field.String(), c.Rows})
		if c.Field == ingest.FieldMessages || c.Field == ingest.FieldPrompt {
			e.Prompts = max(e.Prompts, c.Rows)
		}
	}
	var last int64
	for q, err := range rows.Requests(ctx) {
		if err != nil {
			return nil, err
		}
		last = max(last, q.T.V)
	}
	e.SpanS = float64(last) / 1e6
	in.requests = rows.Account.Kept
	in.Fills = sanitize.Fills(e)
	for _, f := range in.Fills {
		if f.Ask != "" && !slices.Contains(in.Request, f.Ask) {
			in.Request = append(in.Request, f.Ask)
		}
	}
	return in, nil
}

// maxSkipped is how many files that were left out are listed one by one.
const maxSkipped = 10

func (in *inspection) print(w io.Writer) error {
	for _, f := range in.Found {
		fmt.Fprintf(w, "%s in %s, %d file%s: %s\n", f.Source, f.Container, f.Files, plural(f.Files), visible(f.Why))
	}
	for i, f := range in.Skipped {
		if i == maxSkipped && len(in.Skipped) > maxSkipped+1 {
			fmt.Fprintf(w, "and %d more files left out; --json lists them\n", len(in.Skipped)-i)
			break
		}
		word := "skipped"
		if f.Broken {
			word = "broken off"
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", word, visible(f.File), visible(f.Why))
	}
	c := in.Counts
	fmt.Fprintf(w, "\nread %d rows = %d kept + %d rejected + %d excluded\n", c.Read, c.Kept, trace.Total(c.Rejected), trace.Total(c.Excluded))
	for _, r := range in.First {
		fmt.Fprintf(w, "  rejected %d: %s%s, first at %s\n", c.Rejected[r.Reason], r.Reason, meaning(ingest.Reason(r.Reason)), visible(strings.Join(r.At, ", ")))
	}
	for _, r := range slices.Sorted(maps.Keys(c.Excluded)) {
		fmt.Fprintf(w, "  excluded %d: %s\n", c.Excluded[r], visible(r))
	}
	in.fills(w)
	if names, n := unread(in.Unmapped, in.Hidden, 30); n > 0 {
		fmt.Fprintf(w, "\n%s\n", wrapped(fmt.Sprintf("not read, %d column%s: %s", n, plural(n), visible(names)), 100))
	}
	for _, n := range in.Notes {
		fmt.Fprintf(w, "note: %s\n", visible(n))
	}
	return in.mail(w)
}

// wrapped breaks lines at spaces, without the padding that fills them up.
func wrapped(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func (in *inspection) fills(w io.Writer) {
	t := plain()
	t.AppendHeader(table.Row{"row of the spec", "filled", "what the log tells"})
	for _, f := range in.Fills {
		t.AppendRow(table.Row{f.Row, string(f.Confidence), f.Why})
	}
	fmt.Fprintf(w, "\n%s\n", trimmed(t))
}

// mail is the data request, to paste.
func (in *inspection) mail(w io.Writer) error {
	if len(in.Request) == 0 {
		_, err := fmt.Fprintln(w, "\nNothing to ask for: the log fills every row of the workload spec.")
		return err
	}
	fmt.Fprintf(w, "\n--- data request, to paste into a mail ---\n\n")
	fmt.Fprintf(w, "%s\n\n", wrapped(fmt.Sprintf("We read your log: %d requests are usable. To size your traffic without guessing we still need, "+
		"for the same requests (an export of one busy day is best):", in.requests), 78))
	for i, r := range in.Request {
		lines := strings.Split(wrapped(r, 74), "\n")
		fmt.Fprintf(w, "%2d. %s\n", i+1, strings.Join(lines, "\n    "))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", wrapped("Prompts and answers are read on your own machine by an open tool and do not leave it: "+
		"what we receive are lengths, times and numbered prefix blocks, listed field by field before you approve them.", 78))
	return err
}
