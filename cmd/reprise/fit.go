package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
	"reprise/trace/token"
)

func newFit(io *stdio) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "fit TRACE",
		Short: "Measure a trace: lengths, arrivals, burstiness, prefix sharing",
		Long: `Fit measures a trace and writes a draft spec: quantile tables and fitted
families of lengths, rate per minute, peak-to-mean with its Poisson baseline,
dispersion at each time scale, prefix sharing with named denominators, the
sliding peak hour. What the time stamps cannot carry is refused and said.

Reads the whole trace into memory: about 300 bytes a request and 4 bytes a
prefix block.`,
		Example: `  reprise fit day.trace.parquet -o draft.spec.json`,
		Args:    exactly(1, "one trace"),
		RunE: func(c *cobra.Command, args []string) error {
			var sp *spec.Spec
			err := unlessInterrupted(c.Context(), func() error {
				t, _, err := io.readTrace(args[0])
				if err != nil {
					return err
				}
				if sp, err = fit.Fit(t, fit.Options{Tool: version(), WordList: token.WordListSHA256()}); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, n := range fit.Notes(sp) {
				io.talk("note: %s", n)
			}
			return io.writeSpec(output, sp)
		},
	}
	outputFlag(c, &output, "spec to write")
	return c
}

// readTrace reads a whole trace and returns it with the digest of its bytes.
func (s *stdio) readTrace(path string) (*trace.Trace, string, error) {
	in, err := s.open(path)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if in.starts("{") {
		return nil, "", fmt.Errorf("%s is JSON and not a trace: a trace comes from reprise ingest, cut or synth", in.name)
	}
	t, err := trace.Load(in, in.size)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", in.name, err)
	}
	return t, in.sha256, nil
}
