package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit/synth"
	"reprise/trace"
)

type synthOptions struct {
	seed   uint64
	length time.Duration
	output string
}

func newSynth(io *stdio) *cobra.Command {
	var o synthOptions
	c := &cobra.Command{
		Use:   "synth SPEC",
		Short: "Make a synthetic trace from a spec alone",
		Long: `Synth draws a trace from a spec and nothing else: lengths from its tables,
arrivals from its rates and their dispersion, shared prefixes from its reuse
model. The same spec and seed give the same bytes.`,
		Example: `  reprise synth spec.json --seed 7 -o synthetic.trace.parquet`,
		Args:    exactly(1, "one spec"),
		RunE: func(c *cobra.Command, args []string) error {
			sp, sha, err := io.readSpec(args[0])
			if err != nil {
				return err
			}
			var t *trace.Trace
			err = unlessInterrupted(c.Context(), func() (err error) {
				t, err = synth.Trace(sp, synth.Options{Seed: o.seed, For: o.length})
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			t.Header.Tool = version()
			t.Header.Leaves = true
			t.Header.DerivedFrom = &trace.Derived{SHA256: sha, Verb: "synth",
				Args: []string{"--seed", strconv.FormatUint(o.seed, 10), "--for", o.length.String()}}
			io.talk("made %d requests from the spec", len(t.Requests))
			return io.writeTrace(o.output, t)
		},
	}
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed")
	c.Flags().DurationVar(&o.length, "for", 0, "length of the trace (default: as the log was; 60s without a log)")
	outputFlag(c, &o.output, "trace file to write")
	return c
}
