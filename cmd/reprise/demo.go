package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/testdata/demolog"
	"reprise/trace/sign"
	"reprise/trace/token"
)

type demoOptions struct {
	dir   string
	force bool
	seed  uint64
}

func newDemo(s *stdio) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole chain on a made-up day of logs and the mock engine",
		Long: `Demo makes a day of logs of a support assistant and runs the whole chain on it:
ingest, fit, agree, cut, bundle, sign for both roles, verify, synth, replay of
the busiest 20 seconds at true speed from the trace and from the synthetic one,
and report. It takes about a minute, needs ssh-keygen, and uses the network only
to talk to itself. Each step is printed as the command that does the same.`,
		Args: exactly(0, "flags only"),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), s) },
	}
	c.Flags().StringVarP(&o.dir, "output", "o", filepath.Join("out", "demo"), "folder to make")
	c.Flags().BoolVar(&o.force, "force", false, "replace the folder if an earlier demo made it")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of the log and of the synthetic trace")
	return c
}

// demoMark is a file that says that a folder was made by the demo, so that
// --force never removes anything else.
const demoMark = ".reprise-demo"

func (o *demoOptions) prepare() error {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		return withHint(errors.New("ssh-keygen is not installed, and the demo signs with it"), "install the OpenSSH client")
	}
	if _, err := os.Lstat(o.dir); err == nil {
		if _, err := os.Lstat(filepath.Join(o.dir, demoMark)); err != nil || !o.force {
			return withHint(fmt.Errorf("%s exists already", o.dir), "use --force to replace an earlier demo, or -o for another folder")
		}
		if err := os.RemoveAll(o.dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(o.dir, "keys"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.dir, demoMark), nil, 0o644)
}

func (o *demoOptions) run(ctx context.Context, s *stdio) error {
	if err := o.prepare(); err != nil {
		return err
	}
	d := &demo{ctx: ctx, s: s, dir: o.dir, seed: fmt.Sprint(o.seed)}
	d.chain(o.seed)
	d.replays()
	d.do("report", "trace="+d.at("run-trace"), "synthetic="+d.at("run-synthetic"), "--html", d.at("report.html"))
	return d.end()
}

// chain makes the signed spec and both traces, from the log to what is sent.
func (d *demo) chain(seed uint64) {
	d.made("a made-up day of logs", "day.jsonl.gz", func(path string) error { return writeDay(path, seed) })
	d.do("ingest", d.at("day.jsonl.gz"), "-o", d.at("day.trace.parquet"))
	d.do("fit", d.at("day.trace.parquet"), "-o", d.at("draft.spec.json"))
	d.made("the agreement, as both sides would fill it in", "agreement.yaml", func(path string) error {
		return os.WriteFile(path, []byte(demoAgreement), 0o644)
	})
	d.do("agree", d.at("draft.spec.json"), "--answers", d.at("agreement.yaml"), "-o", d.at("agreed.spec.json"))
	d.do("cut", d.at("day.trace.parquet"), "--peak", "20s", "-o", d.at("peak.trace.parquet"))
	d.do("bundle", d.at("agreed.spec.json"), d.at("peak.trace.parquet"), "--profile", "exact", "-o", d.at("bundle"))
	d.do("bundle", d.at("agreed.spec.json"), d.at("day.trace.parquet"), "--profile", "aggregate", "-o", d.at("bundle-aggregate"))
	d.made("keys for the demo, and who they belong to", "keys/allowed_signers", d.keys)
	for _, role := range []string{"customer", "vendor"} {
		d.do("sign", d.at("bundle"), "--role", role, "--key", d.at("keys/"+role))
	}
	d.do("verify", d.at("bundle"), "--allowed-signers", d.at("keys/allowed_signers"))
	d.do("synth", d.at("bundle/spec.json"), "--seed", d.seed, "-o", d.at("synthetic-day.trace.parquet"))
	d.do("cut", d.at("synthetic-day.trace.parquet"), "--peak", "20s", "-o", d.at("synthetic-peak.trace.parquet"))
}

// demo runs steps until one fails.
type demo struct {
	ctx  context.Context
	s    *stdio
	dir  string
	seed string
	code int
	bad  string
	list []string
}

func (d *demo) at(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// do runs one verb just as a user would, and keeps what it wrote.
func (d *demo) do(args ...string) {
	if d.bad != "" {
		return
	}
	line := "reprise " + strings.Join(args, " ")
	fmt.Fprintf(d.s.err, "\n$ %s\n", line)
	code := run(d.ctx, args, stdio{in: strings.NewReader(""), out: d.s.out, err: d.s.err, headroom: d.s.headroom})
	switch {
	case code == exitNo || code == exitDistrust:
		d.code = max(d.code, code) // an answer, not a failure
	case code != exitDone:
		d.bad, d.code = line, code
		return
	}
	for i, a := range args {
		if (a == "-o" || a == "--html") && i+1 < len(args) {
			d.list = append(d.list, fmt.Sprintf("  %-42s %s", args[i+1], line))
		}
	}
}

// made does what no verb does.
func (d *demo) made(what, name string, make func(path string) error) {
	if d.bad != "" {
		return
	}
	path := d.at(name)
	fmt.Fprintf(d.s.err, "\n# %s: %s\n", what, path)
	if err := make(path); err != nil {
		d.bad, d.code = what, d.s.exit(err)
		return
	}
	d.list = append(d.list, fmt.Sprintf("  %-42s made by the demo: %s", path, what))
}

func writeDay(path string, seed uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if err := demolog.Write(z, seed); err != nil {
		return err
	}
	return errors.Join(z.Close(), f.Close())
}

// keys makes a key for each role and the allowed_signers file that says whose
// they are.
func (d *demo) keys(path string) error {
	var allowed strings.Builder
	for _, k := range []struct{ role, principal, namespace string }{
		{"customer", "alice@customer.example", "customer-approval.v1@reprise"},
		{"vendor", "bob@vendor.example", "vendor-acceptance.v1@reprise"},
	} {
		key := d.at("keys/" + k.role)
		if err := sign.GenerateKey(d.ctx, key, k.principal); err != nil {
			return err
		}
		pub, err := os.ReadFile(key + ".pub")
		if err != nil {
			return err
		}
		line, err := sign.AllowedLine(pub, k.principal, k.namespace)
		if err != nil {
			return err
		}
		allowed.WriteString(line)
	}
	return os.WriteFile(path, []byte(allowed.String()), 0o644)
}

// replays sends both traces to a fresh mock engine each, so that neither finds
// what the other left in its cache.
func (d *demo) replays() {
	for _, r := range []struct{ trace, out string }{
		{"bundle/trace.parquet", "run-trace"}, {"synthetic-peak.trace.parquet", "run-synthetic"}} {
		if d.bad != "" {
			return
		}
		srv, err := d.engine()
		if err != nil {
			d.bad, d.code = "the mock engine", d.s.exit(err)
			return
		}
		d.do("replay", d.at(r.trace), "--url", srv.URL(), "--spec", d.at("bundle/spec.json"), "-o", d.at(r.out))
		srv.Close()
	}
	d.list = append(d.list, fmt.Sprintf("  %-42s kept by reprise replay: every run, each line with the hash of the one before", d.at("ledger.jsonl")))
}

func (d *demo) engine() (*mock.Server, error) {
	law, err := engine.Preset("demo")
	if err != nil {
		return nil, err
	}
	t, err := token.Open("o200k_base")
	if err != nil {
		return nil, err
	}
	srv, err := mock.Start(d.ctx, mock.DefaultConfig(law, t))
	if err == nil {
		fmt.Fprintf(d.s.err, "\n# mock engine (reprise mock --preset demo) at %s\n", srv.URL())
	}
	return srv, err
}

func (d *demo) end() error {
	fmt.Fprintf(d.s.err, "\nWhat was made, and the command that made it:\n%s\n", strings.Join(d.list, "\n"))
	if d.bad != "" {
		return verdict{d.code, "the demo stopped at: " + d.bad}
	}
	fmt.Fprintf(d.s.err, "\nOpen %s and %s in a browser.\n", d.at("report.html"), d.at("bundle/review.html"))
	fmt.Fprintln(d.s.err, "The busiest 20 s of the synthetic day is another draw than the log's, so its load differs somewhat; near the knee TTFT shows it.")
	if d.code == exitDistrust {
		fmt.Fprintln(d.s.err, "The report says what keeps it from a verdict. Where that is a late client, run it again when the machine is quiet.")
	}
	return nil
}

const demoAgreement = `mix: the support chat of Northlight Mutual, with its long instruction block
date_label: a made-up Thursday in November
load: 11
slo:
  - ttft p95 <= 1500ms at client
  - tpot p95 <= 60ms at client
region: eu-demo-1
comparison: none
out_of_scope:
  - images and audio
client_run_by: whoever runs the demo
handoff_command: reprise replay trace.parquet --url $URL
runs:
  - {name: confirmation, mode: replay, load: 11, duration: 20s}
customer: alice@customer.example
vendor: bob@vendor.example
`
