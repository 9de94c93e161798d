package main

import (
	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/token"
)

type specOptions struct {
	stated    fit.Statement
	tokenizer string
	output    string
}

func newSpec(io *stdio) *cobra.Command {
	var o specOptions
	c := &cobra.Command{
		Use:   "spec",
		Short: "Make a spec from stated numbers, when there are no logs",
		Long: `Spec makes a workload spec from what somebody states. Every number in it is
labelled assumed and carries the data request that would replace it.

Lengths are lognormal around the stated means with --sigma (0 makes them
constant); arrivals are Poisson at the stated rate.`,
		Example: `  reprise spec --input 2000 --output 300 --rate 8 --shared-prefix 800 \
    | reprise synth - --for 60s | reprise replay - --url http://127.0.0.1:8000`,
		Args: exactly(0, "flags only"),
		RunE: func(c *cobra.Command, _ []string) error {
			for _, f := range []string{"input", "output", "rate"} {
				if !c.Flags().Changed(f) {
					return usagef("--%s is missing; see reprise spec --help", f)
				}
			}
			return o.run(io)
		},
	}
	c.Flags().Float64Var(&o.stated.Input, "input", 0, "mean tokens of a prompt, shared prefix included")
	c.Flags().Float64Var(&o.stated.Output, "output", 0, "mean tokens of an answer")
	c.Flags().Float64Var(&o.stated.Rate, "rate", 0, "requests per second")
	c.Flags().IntVar(&o.stated.SharedPrefix, "shared-prefix", 0, "tokens with which every prompt begins")
	c.Flags().Float64Var(&o.stated.Sigma, "sigma", 0.5, "spread of the lengths: sigma of log tokens")
	c.Flags().StringVar(&o.tokenizer, "tokenizer", "o200k_base", "tokenizer that the lengths are counted in")
	c.Flags().StringVarP(&o.output, "out", "o", "", "spec to write (default stdout)")
	return c
}

func (o *specOptions) run(s *stdio) error {
	t, err := token.Open(o.tokenizer)
	if err != nil {
		return err
	}
	o.stated.Tokenizer = trace.Named{Name: t.Name(), SHA256: t.SHA256()}
	o.stated.WordList = token.WordListSHA256()
	o.stated.Tool = version()
	sp, err := fit.Stated(o.stated)
	if err != nil {
		return usageError{err}
	}
	return s.writeSpec(o.output, sp)
}
