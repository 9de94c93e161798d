package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit/page"
	"reprise/replay"
	"reprise/replay/openai"
	"reprise/trace/spec"
	"reprise/trace/token"
)

type replayOptions struct {
	url       string
	model     string
	api       string
	keyFile   string
	headers   []string
	tokenizer string
	cache     string
	salt      int64
	ignoreEOS string
	shape     shapeFlags
	endpoint  endpointFlags
	wire      wireFlags
	shards    shardFlags
	tok       *token.Tokenizer // of the prompts
	broken    int
	grace     time.Duration
	first     time.Duration
	idle      time.Duration
	total     time.Duration
	slo       []string
	spec      string
	region    string
	output    string
	selfTest  time.Duration
	untested  bool // no headroom test

	// For a sweep.
	notes []string             // of the run, besides its own
	each  func(*replay.Result) // sees every result
	level func(int) bool       // whether a closed loop goes on to a level
	done  *replay.Run          // how the run ended

	until  time.Duration // last planned instant of all machines of the run
	waiter replay.Waiter // nil: the best of the system
}

func newReplay(s *stdio) *cobra.Command { return new(replayOptions).command(s) }

func (o *replayOptions) command(s *stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "replay TRACE|SPEC",
		Short: "Send a trace, open loop at true speed, to an OpenAI-compatible endpoint",
		Long: `Replay sends every request of a trace at its own instant to an OpenAI-compatible
chat or completions endpoint, streaming. The schedule is absolute: a request
that is late is sent late and says so; none is dropped, re-timed or sent early.
Prompts are surrogate text of exactly the recorded tokens, sharing exactly what
the recorded prompts shared.

A spec is drawn from first, as synth does. Instead of the recorded instants,
arrivals can be drawn (--rate, --arrivals, --ramp), or a closed loop can find
saturation (--concurrency): its requests have no schedule, so it shows how much
an endpoint can do and never that a limit holds under the workload's arrivals.

Several client machines make one run with --shard and --start-at. One schedule
is drawn for all and each sends its part of it, at the same instants; of a closed
loop each has its share of the requests under way. So rates and --concurrency are
those of all machines together, and reprise report joins their folders.

Latency is told from the scheduled instant, and beside it from the bytes
written. The results go into a folder, whose name is printed; reprise report
reads it. An interrupt sends no more, lets what is under way finish within
--grace, and keeps what there is; a second one ends the grace.

A request that this machine had not the descriptors, ports or memory to send is
the client's own failure: then the exit code is 4, as where the client was late.

--self-test tells beforehand how far the numbers can be believed: put
"reprise mock --stamps --preset plain" where the server is, behind the same
proxies, and send it the same command line. It prints the error of the client
and of the path, keeps nothing, and exits 4 when they do not hold.

The key comes from REPRISE_API_KEY or OPENAI_API_KEY, or from --api-key-file.`,
		Example: `  reprise replay peak.trace.parquet --url http://127.0.0.1:8000 --spec agreed.spec.json -o run/
  reprise report run/
  reprise replay spec.json --rate 5 --arrivals gamma --cv 2 --for 10m --url $URL
  reprise replay spec.json --concurrency 1,2,4,8,16 --for 30s --url $URL
  reprise replay spec.json --ramp 1..20 --steps 10 --for 10m --url $URL
  reprise replay peak.trace.parquet --url http://mock-host:8000 --self-test`,
		Args: oneTrace,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.shape.check(c); err != nil {
				return err
			}
			if err := o.instead(c); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			if o.url == "" {
				return usagef("--url is missing: the endpoint, for instance http://127.0.0.1:8000")
			}
			if c.Flags().Changed("k8s") {
				return o.shards.manifest(s, c, args[0])
			}
			return o.run(c.Context(), s, args[0])
		},
	}
	o.shards.add(c)
	o.add(c)
	o.shape.add(c)
	c.Flags().Int64Var(&o.salt, "salt", 0, "salt that sets this run's text apart (default: from the clock)")
	c.Flags().BoolVar(&o.untested, "no-headroom", false, "do not test, for up to 2 s before the run, how much more this client could take")
	c.Flags().DurationVar(&o.selfTest, "self-test", 0, "instead of a run: send the busiest part of the load, so long, to reprise mock --stamps at --url, and print the error of client and path")
	c.Flags().Lookup("self-test").NoOptDefVal = "10s"
	c.Flags().StringVarP(&o.output, "output", "o", "", "results folder to make (default: run-DATE-TIME)")
	return c
}

// oneTrace checks the arguments of a replay: the time of a self-test is none.
func oneTrace(c *cobra.Command, args []string) error {
	if c.Flags().Changed("self-test") && len(args) > 1 {
		for _, a := range args {
			if _, err := time.ParseDuration(a); err == nil {
				return usagef("the time of a self-test stands after an equals sign: --self-test=%s", a)
			}
		}
	}
	return exactly(1, "one trace or spec")(c, args)
}

// instead checks what is asked for instead of a run.
func (o *replayOptions) instead(c *cobra.Command) error {
	test, job := c.Flags().Changed("self-test"), c.Flags().Changed("k8s")
	switch {
	case test && job:
		return usagef("--self-test and --k8s do not go together: test from one of the machines first")
	case test && o.selfTest <= 0:
		return usagef("--self-test=%v is no time to test for", o.selfTest)
	case job:
		return nil
	}
	for _, name := range []string{"k8s-image", "k8s-claim", "k8s-name", "k8s-secret"} {
		if c.Flags().Changed(name) {
			return usagef("--%s has an effect with --k8s alone", name)
		}
	}
	return nil
}

// check refuses values that no run could hold to, before anything is read.
func (o *replayOptions) check() error {
	switch {
	case !slices.Contains([]string{replay.CacheWorkload, replay.CacheNone, replay.CacheKeep}, o.cache):
		return usagef("--cache is workload, none or keep, not %q", o.cache)
	case !slices.Contains([]string{openai.Auto, openai.On, openai.Off}, o.ignoreEOS):
		return usagef("--ignore-eos is auto, on or off, not %q", o.ignoreEOS)
	case !slices.Contains([]string{"", openai.Chat, openai.Completions}, o.api):
		return usagef("--api is chat or completions, not %q", o.api)
	case o.first < 0 || o.idle < 0 || o.total < 0 || o.grace < 0:
		return usagef("a timeout is negative: use 0 for none")
	}
	if o.url != "" {
		if _, err := openai.Address(o.url, o.api); err != nil {
			return usagef("--url: %w", err)
		}
	}
	for _, line := range o.slo {
		if _, err := parseSLO(line); err != nil {
			return usagef("--slo: %w", err)
		}
	}
	return nil
}

// add adds the flags that a replay and a sweep have in common: the endpoint,
// and how it is treated.
func (o *replayOptions) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.url, "url", "", "endpoint: its base, with or without /v1, or in full")
	f.StringVar(&o.model, "model", "", "model name (default: the one that the endpoint serves)")
	f.StringVar(&o.api, "api", "", "chat or completions (default: as the URL says, else chat)")
	f.StringVar(&o.keyFile, "api-key-file", "", "file that holds the API key")
	f.StringArrayVar(&o.headers, "header", nil, "NAME=env:VARIABLE or NAME=file:PATH: send a header with the value of a variable or a file")
	o.endpoint.add(c)
	o.wire.register(c)
	f.StringVar(&o.tokenizer, "tokenizer", "", "tokenizer of the surrogate text, a name or a file (default: the trace's, else o200k_base)")
	f.StringVar(&o.cache, "cache", replay.CacheWorkload, "prefix cache: workload (shares within the run), none, keep (repeats stay warm)")
	f.StringVar(&o.ignoreEOS, "ignore-eos", openai.Auto, "ask the server to write on to the planned length: auto, on, off")
	f.IntVar(&o.broken, "max-failures", 100, "end the run after so many failures in a row (no connection, TLS, HTTP 5xx); 0: never")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "what requests under way get after an interrupt")
	f.DurationVar(&o.first, "first-token-timeout", 5*time.Minute, "give a request up without content after this long; 0: never")
	f.DurationVar(&o.idle, "idle-timeout", 2*time.Minute, "give a request up after this long without an event, once content came; 0: never")
	f.DurationVar(&o.total, "timeout", 30*time.Minute, "give a request up after this long in all; 0: never")
	f.StringArrayVar(&o.slo, "slo", nil, `limit such as "ttft p95 <= 800ms at client", may be repeated`)
	f.StringVar(&o.spec, "spec", "", "spec whose limits and region hold")
	f.StringVar(&o.region, "region", "", "where the endpoint is")
}

func (o *replayOptions) run(ctx context.Context, s *stdio, path string) error {
	w, err := s.readFeed(path, &o.shape)
	if err != nil {
		return err
	}
	if o.shape.given["seed"] && w.spec == nil && o.shape.arrivals != replay.Poisson && o.shape.arrivals != replay.Gamma {
		return usagef("--seed has no effect: nothing of this load is drawn")
	}
	if err := o.endpoint.known(w.trace); err != nil {
		return err
	}
	return o.replay(ctx, s, w)
}

// replay sends a feed in the shape of the flags.
func (o *replayOptions) replay(ctx context.Context, s *stdio, w *feed) error {
	t := w.trace
	if err := o.shards.take(&o.salt); err != nil {
		return err
	}
	plan, all, err := o.shape.part(w, &o.shards, o.cache)
	if err != nil {
		return err
	}
	o.until = all.last
	o.endpoint.points = len(plan.Shape.Points) > 1
	run := o.describe(w.source)
	run.Cache.ExpectedHitRate = all.hits
	tight, sure := replay.ThisMachine().Tell(plan, o.wire.newConns)
	if sure {
		return withHint(errors.New(tight[0]), "nothing was made or sent; ask for fewer with --concurrency, or raise the limit")
	}
	run.Notes = append(append(run.Notes, o.notes...), tight...)
	o.shards.describe(run, all.planned)
	load, err := o.limits(s, w, run)
	if err != nil {
		return err
	}
	if note := offAgreed(load, plan); note != "" && o.shards.shard == "" {
		run.Notes = append(run.Notes, note)
	}
	if o.selfTest > 0 {
		return o.test(ctx, s, plan, t, run)
	}
	if o.output == "" {
		o.output = time.Now().UTC().Format("run-20060102-150405Z")
	}
	if _, err := os.Lstat(o.output); err == nil {
		return withHint(fmt.Errorf("%s exists already", o.output), "name another folder with -o")
	}
	if st, err := os.Stat(filepath.Dir(o.output)); err != nil || !st.IsDir() {
		return withHint(fmt.Errorf("there is no folder %s to make %s in", filepath.Dir(o.output), filepath.Base(o.output)), "make it first, or name another with -o")
	}
	if err := canMake(o.output); err != nil {
		return err
	}
	run.Notes = append(run.Notes, plan.Notes...)
	client, prompts, err := o.client(t, run)
	if err != nil {
		return err
	}
	defer client.Close()
	notes, err := client.Preflight(ctx)
	if ctx.Err() != nil {
		return interrupted{errors.New("interrupted before the run: nothing was kept")}
	}
	if err != nil {
		return err
	}
	run.Endpoint, run.Path = client.Endpoint(), client.Path()
	if short := prompts.TooShort(t, run.Endpoint.Template); short != "" {
		notes = append(notes, short)
	}
	run.Notes = append(run.Notes, notes...)
	if err := o.headroom(ctx, s, plan, prompts, run); err != nil {
		return err
	}
	for _, n := range run.Notes {
		s.talk("note: %s", n)
	}
	s.talk("sending %s to %s (%s, model %s): %s", amount(plan), run.Endpoint.URL, run.Endpoint.API, run.Endpoint.Model, plan.Shape.Sentence(plan.Mode()))
	return o.send(ctx, s, plan, client, run)
}

// canMake tells beforehand that the results folder cannot be made or written.
func canMake(path string) error {
	probe, err := os.MkdirTemp(filepath.Dir(path), ".reprise-*")
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(probe, "x"); err == nil {
			f.Close()
		}
		os.RemoveAll(probe)
	}
	if err == nil {
		return nil
	}
	if of := (*os.PathError)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return withHint(fmt.Errorf("the results folder %s cannot be made: %w", path, err), "name a place that can be written with -o; nothing was sent")
}

// describe fills in what is known before the run.
func (o *replayOptions) describe(source replay.Input) *replay.Run {
	if o.salt == 0 {
		o.salt = time.Now().UnixNano()
	}
	return &replay.Run{
		Kind: replay.RunKind, Version: replay.RunVersion, Tool: version(), Status: replay.Running,
		StartedAt: time.Now().UTC().Format(time.RFC3339), Trace: source, Salt: o.salt,
		Region: o.region, Flags: o.flags(),
		Cache: replay.CacheMode{Mode: o.cache},
	}
}

// flags is the command line without secrets: no value of a header or key.
func (o *replayOptions) flags() []string {
	out := []string{"--cache", o.cache, "--salt", fmt.Sprint(o.salt), "--ignore-eos", o.ignoreEOS, "--warmup", o.shape.warmup.String(),
		"--first-token-timeout", o.first.String(), "--idle-timeout", o.idle.String(), "--timeout", o.total.String()}
	out = append(out, "--max-failures", strconv.Itoa(o.broken))
	out = append(out, o.shape.args()...)
	out = append(out, o.shards.args()...)
	out = append(out, o.endpoint.args()...)
	out = append(out, o.wire.args()...)
	for _, l := range o.slo {
		out = append(out, "--slo", l)
	}
	for _, h := range o.headers {
		name, _, _ := strings.Cut(h, "=")
		out = append(out, "--header", name)
	}
	return out
}

// amount says how many requests a plan has, or how long it goes on.
func amount(p *replay.Plan) string {
	switch n, length := p.Planned(), p.Length().Round(time.Millisecond); {
	case n < 0:
		return fmt.Sprintf("requests for %v", length)
	case length == 0:
		return fmt.Sprintf("%d requests", n)
	default:
		return fmt.Sprintf("%d requests over %v", n, length)
	}
}

// limits takes SLO and region from the spec, or from flags, and returns the load
// that the spec's question is about, 0 for none.
func (o *replayOptions) limits(s *stdio, w *feed, run *replay.Run) (load float64, err error) {
	run.SLO = []spec.SLO{}
	if o.spec == "" && w.spec != nil {
		load = float64(w.spec.Question.Load.Value)
		run.Spec = &w.given
		run.SLO = append(run.SLO, w.spec.Question.SLO...)
		run.Region = cmp.Or(run.Region, w.spec.Question.Region)
	}
	if o.spec != "" {
		sp, sha, err := s.readSpec(o.spec)
		if err != nil {
			return 0, err
		}
		load = float64(sp.Question.Load.Value)
		run.Spec = &replay.Input{Name: filepath.Base(o.spec), SHA256: sha}
		run.SLO = append(run.SLO, sp.Question.SLO...)
		if run.Region == "" {
			run.Region = sp.Question.Region
		}
	}
	for _, line := range o.slo {
		l, err := parseSLO(line)
		if err != nil {
			return 0, usagef("--slo: %w", err)
		}
		run.SLO = append(run.SLO, l)
	}
	return load, nil
}

// offAgreed says that an open loop offers another rate than the question of its
// spec is about, by more than 5 % and what chance makes of so many requests.
func offAgreed(load float64, p *replay.Plan) string {
	if load <= 0 || p.Mode() != replay.OpenLoop || len(p.Shape.Points) > 1 {
		return ""
	}
	n, first, last := 0, int64(0), int64(0) // as the report counts what was offered: without the warm-up
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Phase == replay.Measure {
			if n == 0 {
				first = j.Sched
			}
			n, last = n+1, j.Sched
		}
	}
	if last <= first {
		return ""
	}
	rate := float64(n-1) * 1e9 / float64(last-first)
	if math.Abs(rate/load-1) <= 0.05+1/math.Sqrt(float64(n)) {
		return ""
	}
	return fmt.Sprintf("the question of the spec is about %s requests/s, and this run offers %s: its limits are judged at what was offered", page.Short(load), page.Short(rate))
}
