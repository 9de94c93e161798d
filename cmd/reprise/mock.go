package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/trace/token"
)

type mockOptions struct {
	listen    string
	preset    string
	lawFile   string
	model     string
	tokenizer string
	seed      uint64
	stamps    bool
	printLaw  bool
	serve     serveOptions
	fault     faultOptions
	fit       fitOptions
	fleet     engine.FleetConfig
}

func newMock(io *stdio) *cobra.Command {
	var o mockOptions
	c := &cobra.Command{
		Use:   "mock",
		Short: "Serve a mock inference engine with an OpenAI-compatible API",
		Long: `Mock serves an inference engine model: continuous batching, chunked prefill, KV
blocks, preemption and a prefix cache, so that latency grows with load and
there is a knee. It is for learning, planning and tests; it is not a promise
about any real engine.

The law in force is printed by --print-law and served at /mock/law; how late
the mock itself was, at /mock/lateness. It serves until interrupted.

--fit makes a law from the results of a replay against a real engine and says
how well the law tells them; --predict simulates another load under the law in
virtual time. Given a results folder it states its own error.

Presets: ` + presetLines() + `. MOCK_API_KEY, when set, is the
key that clients must send.`,
		Example: `  reprise mock --preset demo --listen 127.0.0.1:8000
  reprise mock --preset plain --fault stall@n=3,after=10,for=2s --shape ping=1s,crlf
  reprise mock --fit run/ -o law.json --predict faster.trace.parquet`,
		Args:    exactly(0, "flags only"),
		PreRunE: func(c *cobra.Command, _ []string) error { return o.check(c.Flags()) },
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(c.Context(), io) },
	}
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:8000", "address to serve on")
	c.Flags().StringVar(&o.preset, "preset", "demo", "law by name: "+presetNames())
	c.Flags().StringVar(&o.lawFile, "law", "", "law from a JSON file, as --print-law writes it, instead of a preset")
	c.Flags().StringVar(&o.model, "model", "mock", "model name to serve")
	c.Flags().StringVar(&o.tokenizer, "tokenizer", "o200k_base", "tokenizer that prompts are counted with")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of answers and jitter")
	c.Flags().BoolVar(&o.stamps, "stamps", false, "stamp arrivals (X-Mock-Recv-Ns) and events (x_mock_send_ns), for reprise replay --self-test")
	c.Flags().BoolVar(&o.printLaw, "print-law", false, "print the law as JSON and end")
	c.Flags().IntVar(&o.fleet.Replicas, "replicas", 1, "engines behind the endpoint; POST /mock/scale changes their number")
	c.Flags().StringVar((*string)(&o.fleet.Routing), "routing", string(engine.RoundRobin), "how requests are shared out: round_robin, least_requests, prefix_affinity")
	c.Flags().Var(scaleValue{&o.fleet.Scales}, "scale", "at AT after the start be N replicas, new ones cold for COLD, such as 30s:3:20s; may be repeated")
	o.fit.register(c)
	o.serve.register(c)
	o.fault.register(c)
	return c
}

// presetLines are the names in lines of a manual.
func presetLines() string {
	names := presetNames()
	if at := strings.LastIndex(names[:min(len(names), 70)], " "); at > 0 {
		return names[:at] + "\n" + names[at+1:]
	}
	return names
}

func presetNames() string {
	var names []string
	for _, l := range engine.Presets() {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

// check refuses flags that contradict each other or have no effect.
func (o *mockOptions) check(flags *pflag.FlagSet) error {
	set := func(names ...string) string {
		for _, n := range names {
			if flags.Changed(n) {
				return n
			}
		}
		return ""
	}
	serving := set("listen", "model", "stamps", "fault", "shape", "buffer", "record", "tls", "http2")
	switch {
	case flags.Changed("law") && flags.Changed("preset"):
		return usagef("--law and --preset do not go together: both say which law")
	case o.fit.results != "" && set("law", "preset", "print-law") != "":
		return usagef("--%s has no effect with --fit, which makes the law", set("law", "preset", "print-law"))
	case o.fit.asked() && serving != "":
		return usagef("--%s has no effect with --fit or --predict: nothing is served then", serving)
	case o.fit.results == "" && set("max-seqs", "output") != "":
		return usagef("--%s has an effect with --fit alone", set("max-seqs", "output"))
	case !o.fit.asked() && flags.Changed("json"):
		return usagef("--json has an effect with --fit or --predict alone; --print-law prints the law as JSON")
	}
	for _, path := range []string{o.serve.record, o.fit.output} {
		if err := errors.Join(writable(path), spared(path)); err != nil {
			return err
		}
	}
	return nil
}

func (o *mockOptions) run(ctx context.Context, s *stdio) error {
	if err := checkFleet(o.fleet); err != nil {
		return err
	}
	if o.fit.asked() {
		return o.fit.run(s, o.law, o.seed, o.fleet)
	}
	law, err := o.law()
	if err != nil {
		return err
	}
	if o.printLaw {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(law)
	}
	srv, err := o.start(ctx, s, law)
	if err != nil {
		return err
	}
	s.talk("serving model %s at %s (law %s: %s)", o.model, srv.URL(), law.Name, law.Source)
	<-srv.Done()
	s.talk("stopped; own lateness: %s", lateness(srv))
	if err := o.serve.keep(s, srv); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // being stopped is how a server ends
	}
	return srv.Close()
}

// checkFleet names the flag that a fleet cannot be made of.
func checkFleet(f engine.FleetConfig) error {
	known := []engine.Routing{engine.RoundRobin, engine.LeastRequests, engine.PrefixAffinity}
	switch {
	case f.Replicas < 1:
		return usagef("--replicas is the number of engines, 1 or more")
	case !slices.Contains(known, f.Routing):
		return usagef("--routing is %s, %s or %s, not %q", known[0], known[1], known[2], f.Routing)
	}
	return nil
}

func (o *mockOptions) law() (engine.Law, error) {
	if o.lawFile == "" {
		law, err := engine.Preset(o.preset)
		if err != nil {
			return law, usageError{err}
		}
		return law, nil
	}
	if isFolder(o.lawFile) {
		return engine.Law{}, notAFile(o.lawFile)
	}
	data, err := os.ReadFile(o.lawFile)
	if err != nil {
		return engine.Law{}, err
	}
	law, err := engine.DecodeLaw(data)
	if err != nil {
		return law, fmt.Errorf("%s: %w; a law comes from --print-law or --fit", o.lawFile, err)
	}
	return law, nil
}

func (o *mockOptions) start(ctx context.Context, s *stdio, law engine.Law) (*mock.Server, error) {
	t, err := token.Open(o.tokenizer)
	if err != nil {
		return nil, err
	}
	cfg := mock.DefaultConfig(law, t)
	cfg.Addr, cfg.Model, cfg.Seed, cfg.StampEvents = o.listen, o.model, o.seed, o.stamps
	cfg.FleetConfig = o.fleet
	cfg.APIKey = os.Getenv("MOCK_API_KEY")
	if err := o.serve.apply(&cfg); err != nil {
		return nil, err
	}
	if err := o.fault.apply(&cfg); err != nil {
		return nil, err
	}
	for _, line := range cfg.Describe() {
		s.talk("%s", line)
	}
	return mock.Start(ctx, cfg)
}

func lateness(srv *mock.Server) string {
	b, err := json.Marshal(srv.Lateness())
	if err != nil {
		return err.Error()
	}
	return string(b)
}
