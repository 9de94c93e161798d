package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
)

type cutOptions struct {
	peak   time.Duration
	stride time.Duration
	from   time.Duration
	to     time.Duration
	output string
}

func newCut(io *stdio) *cobra.Command {
	var o cutOptions
	c := &cobra.Command{
		Use:   "cut TRACE",
		Short: "Take the peak hour, or any window, out of a trace",
		Long: `Cut takes a window out of a trace and renumbers it from zero. Time is never
compressed: that would change what is measured.

The peak is the busiest window of its length, found by sliding; of equal ones
the earliest. Whatever --stride is, the cut holds whole requests only.`,
		Example: `  reprise cut day.trace.parquet --peak 1h -o peak.trace.parquet
  reprise cut day.trace.parquet --from 9h --to 9h30m -o morning.trace.parquet`,
		Args: exactly(1, "one trace"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c.Flags().Changed); err != nil {
				return err
			}
			return o.run(c.Context(), io, args[0])
		},
	}
	c.Flags().DurationVar(&o.peak, "peak", 0, "length of the busiest window, for instance 1h or 20s")
	c.Flags().DurationVar(&o.stride, "stride", 0, "step of the sliding window (default: a sixtieth of its length)")
	c.Flags().DurationVar(&o.from, "from", 0, "start of the window, from the trace's zero")
	c.Flags().DurationVar(&o.to, "to", 0, "end of the window, from the trace's zero")
	outputFlag(c, &o.output, "trace file to write")
	return c
}

func (o *cutOptions) check(given func(string) bool) error {
	switch peak, window := given("peak"), given("from") || given("to"); {
	case peak == window:
		return usagef("say either --peak LENGTH, or --from and --to")
	case peak && o.peak <= 0:
		return usagef("--peak is %v, want a length above 0", o.peak)
	case given("stride") && (!peak || o.stride <= 0):
		return usagef("--stride goes with --peak and is above 0")
	case window && o.from < 0:
		return usagef("--from is %v, and a trace begins at 0", o.from)
	case window && o.to <= o.from:
		return usagef("the window from %v to %v is empty: --to lies behind --from", o.from, o.to)
	}
	return nil
}

func (o *cutOptions) run(ctx context.Context, s *stdio, path string) error {
	var t *trace.Trace
	var sha string
	err := unlessInterrupted(ctx, func() (err error) {
		t, sha, err = s.readTrace(path)
		return err
	})
	if err != nil {
		return err
	}
	from, to := o.from.Microseconds(), o.to.Microseconds()
	args := []string{"--from", o.from.String(), "--to", o.to.String()}
	if o.peak > 0 {
		from, err = o.findPeak(t)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		to = from + o.peak.Microseconds()
		args = []string{"--peak", o.peak.String()}
	}
	out, err := t.Window(from, to)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(out.Requests) == 0 {
		return fmt.Errorf("%s: no request arrives between %v and %v", path, time.Duration(from)*time.Microsecond, time.Duration(to)*time.Microsecond)
	}
	out.Header.Tool = version()
	out.Header.DerivedFrom = &trace.Derived{SHA256: sha, Verb: "cut", Args: args}
	s.talk("kept %d of %d requests, from %v to %v of the trace", len(out.Requests), len(t.Requests),
		time.Duration(from)*time.Microsecond, time.Duration(to)*time.Microsecond)
	if last := time.Duration(t.Requests[len(t.Requests)-1].T.Or(0)) * time.Microsecond; time.Duration(to)*time.Microsecond > last+time.Second {
		s.talk("note: the last request of the trace arrives at %v, so the window is longer than what is in it", last)
	}
	beside := keys.Path(path)
	if _, err := os.Stat(beside); path != "-" && err == nil {
		s.talk("note: %s is of the whole trace and does not go with the cut, which cannot be merged by keys", beside)
	}
	f := fit.Features(t)
	s.talkLacking(&f, out)
	return s.writeTrace(o.output, out)
}

// findPeak returns the start of the busiest window in µs.
func (o *cutOptions) findPeak(t *trace.Trace) (int64, error) {
	if !t.Timed() {
		return 0, fmt.Errorf("the trace has no arrival times, so it has no peak")
	}
	stride := o.stride
	if stride <= 0 {
		stride = max(o.peak/60, time.Microsecond)
	}
	return fit.PeakWindow(fit.Times(t), o.peak.Microseconds(), stride.Microseconds()).FromUS, nil
}

// writeTrace writes a trace artifact; one that stays with the customer is
// readable by its owner only.
func (s *stdio) writeTrace(path string, t *trace.Trace) error {
	mode := os.FileMode(0o600)
	if t.Header.Leaves {
		mode = 0o644
	}
	return s.write(path, mode, true, func(w io.Writer) error {
		return trace.Write(w, t.Header, t.All())
	})
}

// talkLacking says which features of a workload a trace never uses.
func (s *stdio) talkLacking(f *spec.Features, t *trace.Trace) {
	if l := fit.Lacking(f, t); len(l) > 0 {
		s.talk("note: no request with %s, so a run of it cannot show what they cost", strings.Join(l, ", "))
	}
}
