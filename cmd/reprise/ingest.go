package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/ingest/rows"
	"reprise/sanitize"
	"reprise/trace"
	"reprise/trace/block"
	"reprise/trace/keys"
	"reprise/trace/token"
	"reprise/trace/token/chat"
)

type ingestOptions struct {
	tokenizer string
	template  string
	also      string
	mapping   []string
	zone      string
	policy    string
	maxBad    string
	keyFile   string
	keepAll   bool
	output    string
}

func newIngest(s *stdio) *cobra.Command {
	var o ingestOptions
	names, err := ingest.SchemaNames()
	if err != nil {
		names = []string{err.Error()}
	}
	c := &cobra.Command{
		Use:   "ingest LOG...",
		Short: "Read request logs into a local trace: tokenized, exact, without text",
		Long: `Ingest reads request logs and writes the local trace: one row a request, with
exact lengths, prefix blocks and times, and no text. It stays with the customer
(mode 0600); what leaves is made by reprise bundle.

A LOG is a file, a folder (all files below it), a pattern (quoted, ** for any
folders) or - for standard input. Read are CSV (comma, semicolon, tab or bar),
JSON lines, JSON arrays, pages and single objects, Parquet, and Arrow or Feather;
plain or in gzip, zstd, bzip2 or snappy, and in tar or zip archives: all told by
content, not by name. Logs of several sources go in at once.

` + text.WrapSoft("Sources known by content: "+strings.Join(names, ", ")+". Any other log goes in with --map "+
			"FIELD=COLUMN.PATH[@UNIT]; fields: "+strings.Join(ingest.FieldNames(), ", ")+".", 79) + `

A row that cannot be used, or is longer than 64 MiB, is counted with its reason
and position, and the rest goes on; above --max-bad nothing is written. So it is
with files that are cut short: what came before the cut is kept, and the share of
such files counts too, so that a single one needs --max-bad 100%. What else lies
in a folder is left out and said, traces of earlier runs among it.

Rows are merged by arrival, whatever file they stand in. Copies of a row (the
same request id, time and lengths; without an id, all the same in two files, on
a clock finer than a second) and attempts that another followed (numbered ones;
or a failed call whose client sends the same prompt within a minute of its end)
are left out and counted, unless --keep-duplicates is given; where the log
leaves a doubt, two rows are two requests.

Memory stays below half a gigabyte whatever the size of the log: what is more
waits in nameless temporary files beside the output (counts and keyed digests,
never text), about as large as the prompts' number of blocks times 64 bytes. A
log without times is taken; the trace then has none, and a rate must be assumed.`,
		Example: `  reprise ingest AzureLLMInferenceTrace_conv.csv -o conv.trace.parquet
  reprise ingest s3-export/ 'more/**/*.parquet' -o day.trace.parquet
  reprise ingest log.jsonl.gz --map input_tokens=usage.in --map arrival=ts@ms -o day.trace.parquet`,
		Args: atLeast(1, "one log or more, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), s, args) },
	}
	c.Flags().StringVar(&o.tokenizer, "tokenizer", "", "count tokens with: "+strings.Join(token.Names(), ", ")+", a file (tokenizer.json, tekken.json, tiktoken ranks) or its folder, or none for the log's own counts and no prefix blocks (default: the policy's, o200k_base)")
	c.Flags().StringVar(&o.template, "template", "", "chat template that renders prompts: a tokenizer_config.json, a .jinja file, a folder, or "+
		strings.Join(chat.Names(), ", ")+" (default: the one in the tokenizer's folder; none: no template)")
	c.Flags().StringVar(&o.also, "also-tokenizer", "", "second tokenizer that counts the same texts; the comparison goes into the trace's footer and to stderr")
	c.Flags().StringArrayVar(&o.mapping, "map", nil, "field=column.path (#1, #2, ... in CSV without a header), or a mapping file (see reprise init mapping); may be repeated")
	zoneFlag(c, &o.zone)
	c.Flags().StringVar(&o.policy, "policy", "", "what may be kept (YAML; see reprise init policy)")
	c.Flags().StringVar(&o.maxBad, "max-bad", "", "largest share of rejected rows, for instance 5% or 0.05 (default: the policy's, 5%)")
	c.Flags().StringVar(&o.keyFile, "key-file", "", "32 bytes that key the digests of several exports alike, which are then kept beside the trace for fit; a model or an adapter then has the same alias in all of them, which next month's compare needs (default: a fresh key, nothing kept)")
	c.Flags().BoolVar(&o.keepAll, "keep-duplicates", false, "keep copies of a row, and attempts that another followed, as requests of their own")
	outputFlag(c, &o.output, "trace file to write")
	return c
}

func (o *ingestOptions) run(ctx context.Context, s *stdio, paths []string) error {
	policy, err := o.readPolicy()
	if err != nil {
		return err
	}
	mapping, err := o.parseMap()
	if err != nil {
		return usageError{err}
	}
	if o.output == "" && terminal(s.out) {
		return usagef("will not write a trace to the terminal: give -o FILE")
	}
	if err := o.outputs(paths); err != nil {
		return err
	}
	key, err := o.key()
	if err != nil {
		return err
	}
	boundMemory()
	tok, err := o.openCounting(s, policy.Tokenizer)
	if err != nil {
		return err
	}
	log, rows, err := o.read(ctx, s, paths, policy, mapping, tok, key)
	if rows != nil {
		defer rows.Close()
	}
	if err != nil {
		return err
	}
	s.talkFiles(log)
	s.talkIngest(log, rows.Account)
	if err := s.talkCounting(rows, tok); err != nil {
		return err
	}
	if err := rows.Account.TooBad(policy.MaxBad); err != nil {
		return err
	}
	if err := tooBroken(log, policy.MaxBad); err != nil {
		return err
	}
	if rows.Account.Kept == 0 {
		return errors.New("no request was kept, so there is no trace to write")
	}
	rows.Header.Tool = version()
	unsureClock(&rows.Header, log.Clock())
	if err := o.write(ctx, s, rows); err != nil {
		return err
	}
	s.talkAlso(rows.Header)
	return nil
}

// unsureClock leaves word of times that may be an hour off, for whoever measures
// the trace.
func unsureClock(h *trace.Header, c ingest.Clock) {
	if c.Untold+c.Skipped == 0 {
		return
	}
	if h.Counting == nil {
		h.Counting = new(trace.Counting)
	}
	h.Counting.Clock = &trace.ClockChange{Either: c.Untold, Skipped: c.Skipped}
}

// write writes the trace and, under a key that is kept, its keys beside it.
func (o *ingestOptions) write(ctx context.Context, s *stdio, rows *sanitize.Rows) error {
	if o.keyFile == "" {
		return s.writeRows(ctx, o.output, rows)
	}
	rows.StableAliases()
	if !regular(o.output) {
		s.talk("note: the trace goes to no file of its own, so no keys are written beside it: what goes on in other traces will not be seen")
		return s.writeRows(ctx, o.output, rows)
	}
	return s.writeKeyed(ctx, o.output, rows)
}

// regular says whether an output is, or will be, a file.
func regular(path string) bool {
	if path == "" || path == "-" {
		return false
	}
	st, err := os.Stat(path)
	return err != nil || st.Mode().IsRegular()
}

// writeKeyed writes the trace, and beside it the digests of what it numbers.
func (s *stdio) writeKeyed(ctx context.Context, path string, rows *sanitize.Rows) error {
	beside := keys.Path(path)
	return s.write(beside, 0o600, true, func(w io.Writer) error {
		out := keys.NewWriter(w)
		defer out.Stop()
		h := rows.Keys(out.Write)
		if err := s.writeRows(ctx, path, rows); err != nil {
			return err
		}
		written, err := s.open(path)
		if err != nil {
			return err
		}
		defer written.Close()
		h.Tool, h.Trace = version(), written.sha256
		s.talk("keys of its sessions and prefixes: %s (stays with the trace)", beside)
		return out.Close(h)
	})
}

// outputs refuses to write over what is read.
func (o *ingestOptions) outputs(paths []string) error {
	inputs := paths
	for _, file := range append([]string{o.keyFile, o.policy}, o.mapping...) {
		if file != "" {
			inputs = append(inputs[:len(inputs):len(inputs)], file)
		}
	}
	if err := errors.Join(writable(o.output), distinct(o.output, inputs...), spared(o.output)); err != nil || o.keyFile == "" || !regular(o.output) {
		return err
	}
	beside := keys.Path(o.output)
	return errors.Join(writable(beside), distinct(beside, inputs...), distinct(beside, o.output))
}

// read reads the log to its end.
func (o *ingestOptions) read(ctx context.Context, s *stdio, paths []string, policy sanitize.Policy, mapping *ingest.Mapping,
	tok sanitize.Tokenizer, key [32]byte) (log *ingest.Log, rows *sanitize.Rows, err error) {
	zone, err := parseZone(o.zone)
	if err != nil {
		return nil, nil, usageError{err}
	}
	b := s.newBar("reading", inputSize(paths), progress.UnitsBytes)
	defer b.close()
	in := ingest.Inputs{Paths: paths, Stdin: s.in, Map: mapping, Zone: zone, Progress: b.set}
	room := sanitize.Room{Dir: spillFolder(o.output), Progress: b.rows}
	type result struct {
		log  *ingest.Log
		rows *sanitize.Rows
	}
	done, err := unlessStopped(ctx, func() (r result, err error) {
		if r.log, err = ingest.Open(ctx, in); err == nil {
			r.rows, err = sanitize.CollectLog(ctx, r.log, policy, tok, key, room)
		}
		return r, err
	})
	return done.log, done.rows, err
}

// boundMemory makes the collector of garbage work harder rather than let the
// process pass half a gigabyte; GOMEMLIMIT, where it is set, goes first.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(420 << 20)
	}
}

// spillFolder is where rows wait that do not fit into memory: beside the
// output, where there is room for the trace too, or in the system's folder.
func spillFolder(output string) string {
	if output == "" || output == "-" {
		return ""
	}
	if st, err := os.Stat(output); err == nil && !st.Mode().IsRegular() {
		return ""
	}
	return filepath.Dir(output)
}

// writeRows numbers the rows and writes the trace.
func (s *stdio) writeRows(ctx context.Context, path string, rows *sanitize.Rows) error {
	b := s.newBar("writing", rows.Account.Kept, progress.UnitsDefault)
	defer b.close()
	return s.write(path, 0o600, true, func(w io.Writer) error {
		return trace.Write(w, rows.Header, func(yield func(trace.Request, error) bool) {
			for q, err := range rows.Requests(ctx) {
				if q.ID%4096 == 0 {
					b.set(q.ID)
				}
				if !yield(q, err) {
					return
				}
			}
		})
	})
}

func (o *ingestOptions) readPolicy() (sanitize.Policy, error) {
	p := sanitize.DefaultPolicy()
	if o.policy != "" {
		data, err := os.ReadFile(o.policy)
		if err != nil {
			return p, err
		}
		if p, err = sanitize.ParsePolicy(data); err != nil {
			return p, fmt.Errorf("%s: %w", o.policy, err)
		}
	}
	if o.tokenizer != "" {
		p.Tokenizer = o.tokenizer
	}
	p.KeepDuplicates = p.KeepDuplicates || o.keepAll
	if o.maxBad != "" {
		v, err := parseShare(o.maxBad)
		if err != nil {
			return p, usagef("--max-bad: %w", err)
		}
		p.MaxBad = v
	}
	return p, p.Validate()
}

// parseShare reads "5%" or "0.05".
func parseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, errors.New("want a share such as 5% or 0.05")
	}
	return v, nil
}

func (o *ingestOptions) parseMap() (*ingest.Mapping, error) {
	if len(o.mapping) == 0 {
		return nil, nil
	}
	return ingest.ParseMap(o.mapping)
}

func (o *ingestOptions) key() ([32]byte, error) {
	if o.keyFile == "" {
		return block.NewKey(), nil
	}
	data, err := os.ReadFile(o.keyFile)
	if err != nil {
		return [32]byte{}, err
	}
	if len(data) != 32 {
		return [32]byte{}, fmt.Errorf("%s holds %d bytes, a key has 32 (head -c 32 /dev/urandom makes one)", o.keyFile, len(data))
	}
	return [32]byte(data), nil
}

// talkIngest says what was read and what became of every row.
func (s *stdio) talkIngest(log *ingest.Log, a *sanitize.Account) {
	schema := log.Schema()
	s.talk("source: %s (%s)", schema.Name, schema.Why)
	for _, n := range log.Notes() {
		s.talk("note: %s", n)
	}
	if names, n := unread(log.Unmapped(), log.UnmappedHidden(), 12); n > 0 {
		s.talk("dropped %d column%s that no field is taken from: %s", n, plural(n), names)
	}
	c := a.Counts()
	s.talk("read %d rows = %d kept + %d rejected + %d excluded", c.Read, c.Kept, trace.Total(c.Rejected), trace.Total(c.Excluded))
	for _, r := range sanitize.Reasons() {
		if n := a.Rejected[r]; n > 0 {
			s.talk("rejected %d: %s%s, first at %s", n, r, meaning(r), positions(a.First[r]))
		}
	}
	for _, r := range slices.Sorted(maps.Keys(a.Excluded)) {
		s.talk("excluded %d: %s", a.Excluded[r], r)
	}
}

// meaning says what a reason's name does not.
func meaning(r ingest.Reason) string {
	if r == rows.LineTooLong {
		return fmt.Sprintf(" (%d MiB is the limit)", ingest.MaxRowMiB)
	}
	return ""
}

// unread lists columns that are not read, and counts them.
func unread(names []string, hidden, most int) (string, int) {
	list := firstFew(names, most)
	if hidden > 0 {
		list = append(slices.Clone(list), fmt.Sprintf("%d whose names may be values and are not shown", hidden))
	}
	return strings.Join(list, ", "), len(names) + hidden
}

func positions(at []ingest.Pos) string {
	var out []string
	for _, p := range at {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

func firstFew(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(slices.Clone(list[:n]), fmt.Sprintf("and %d more", len(list)-n))
}
