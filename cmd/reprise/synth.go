package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

type synthOptions struct {
	seed    uint64
	length  time.Duration
	scale   float64
	redraw  bool
	start   string
	variant string
	job     string
	output  string
}

func newSynth(io *stdio) *cobra.Command {
	var o synthOptions
	c := &cobra.Command{
		Use:   "synth SPEC",
		Short: "Make a synthetic trace from a spec alone",
		Long: `Synth draws a trace from a spec and nothing else: lengths from its tables,
arrivals from its rates and their dispersion, shared prefixes from its reuse
model. The same spec and seed give the same bytes.

--scale adds users of the same kind, each for himself: the trend of the rate
grows by it, what minutes are off that trend by its root, and bursts within a
minute even out. Under 1 requests are left out by chance. Time is never squeezed,
and no burst grows that all users share, such as a retry storm. --start draws from the week
profile of a log of a day or more, or of a brief. Where requests are so rare
that turns of a session are what arrivals are made of, sessions are drawn first,
and the number of requests varies with the seed.`,
		Example: `  reprise synth spec.json --seed 7 -o synthetic.trace.parquet
  reprise synth spec.json --start "mon 14:00" --for 1h --scale 1.5 -o mondays.trace.parquet
  reprise synth spec.json --variant bursty --for 10m -o bursty.trace.parquet`,
		Args: exactly(1, "one spec"),
		RunE: func(c *cobra.Command, args []string) error {
			sp, sha, err := io.readSpec(args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("for") && o.length < time.Microsecond {
				return usagef("--for is %v: a trace has a length, for instance 1h; leave --for out for that of the log", o.length)
			}
			options, err := o.options()
			if err != nil {
				return err
			}
			var t *trace.Trace
			err = unlessInterrupted(c.Context(), func() (err error) {
				t, err = synth.Trace(sp, options)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			t.Header.Tool = version()
			t.Header.Leaves = true
			t.Header.DerivedFrom = &trace.Derived{SHA256: sha, Verb: "synth", Args: o.args()}
			io.talk("made %d requests from the spec%s", len(t.Requests), startSaid(sp, options))
			io.talkLacking(&sp.Workload.Features, t)
			return io.writeTrace(o.output, t)
		},
	}
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed")
	c.Flags().DurationVar(&o.length, "for", 0, "length of the trace (default: as the log was, 1h with --start, 60s without a log)")
	c.Flags().Float64Var(&o.scale, "scale", 1, "multiple of the rate, by users")
	c.Flags().BoolVar(&o.redraw, "redraw", false, "draw the counts of each minute anew, Poisson around the measured ones")
	c.Flags().StringVar(&o.start, "start", "", "hour of the week to start at by the clock of the spec's week, for instance \"mon 14:00\" (needs a week profile)")
	c.Flags().StringVar(&o.variant, "variant", "", "arrivals of that name, for instance bursty")
	c.Flags().StringVar(&o.job, "job", "", "the batch of that name instead of the traffic")
	outputFlag(c, &o.output, "trace file to write")
	return c
}

func (o *synthOptions) options() (synth.Options, error) {
	out := synth.Options{Seed: o.seed, For: o.length, Scale: o.scale, Redraw: o.redraw, Variant: o.variant, Job: o.job}
	if o.job != "" && (o.start != "" || o.variant != "") {
		return out, usagef("--job has hours of its own: it does not go with --start or --variant")
	}
	if !(o.scale > 0 && o.scale <= synth.MaxScale) {
		return out, usagef("--scale must be above 0 and at most %d", synth.MaxScale)
	}
	if o.start == "" {
		return out, nil
	}
	hour, err := weekHour(o.start)
	if err != nil {
		return out, err
	}
	out.Hour, out.InWeek = hour, true
	return out, nil
}

// args are the flags that made the trace, for its header.
func (o *synthOptions) args() []string {
	out := []string{"--seed", strconv.FormatUint(o.seed, 10), "--for", o.length.String()}
	for _, f := range []struct{ name, value, none string }{{"--scale", strconv.FormatFloat(o.scale, 'g', -1, 64), "1"},
		{"--start", o.start, ""}, {"--variant", o.variant, ""}, {"--job", o.job, ""}} {
		if f.value != f.none {
			out = append(out, f.name, f.value)
		}
	}
	if o.redraw {
		out = append(out, "--redraw")
	}
	return out
}

// weekHour reads "mon 14:00" as hours from Monday 00:00.
func weekHour(text string) (int, error) {
	day, clock, ok := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	hour, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(clock), ":00"))
	d := -1
	if len(day) >= 2 {
		for i, name := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
			if strings.HasPrefix(name, day) {
				d = i
				break
			}
		}
	}
	if !ok || err != nil || hour < 0 || hour > 23 || d < 0 {
		return 0, usagef("--start is not a day and a full hour such as \"mon 14:00\"")
	}
	return 24*d + hour, nil
}

// startSaid says at what hour a trace begins that --start asked for, by the clock
// of the spec's week.
func startSaid(sp *spec.Spec, o synth.Options) string {
	if w := sp.Workload.Arrivals.Week; w != nil && o.InWeek {
		return fmt.Sprintf(", from %s %s on", spec.HourOfWeek(o.Hour), fit.ZoneName(w.Zone))
	}
	return ""
}
