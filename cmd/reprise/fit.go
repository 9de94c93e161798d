package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
	"reprise/trace/token"
)

func newFit(io *stdio) *cobra.Command {
	var output, order, zone string
	c := &cobra.Command{
		Use:   "fit TRACE...",
		Short: "Measure a trace: lengths, arrivals, burstiness, prefix sharing",
		Long: `Fit measures a trace and writes a draft spec: quantile tables and fitted
families of lengths, rate per minute, peak-to-mean with its Poisson baseline,
dispersion at each time scale, prefix sharing with named denominators, the
sliding peak hour. What the time stamps cannot carry is refused and said.

Several traces are parts of one log: a day each, or a gateway each. Those with
dates lie where the dates say. Those with hours of the week lie within one week,
or each behind the one named before; where that is not the same, fit
asks for --order. Lengths, arrivals and
features are then those of one trace of them all. So are prefix sharing and
sessions where each log was ingested under the same --key-file: the digests that
ingest left beside each trace (NAME.keys.parquet) tell what goes on from one to
another. Elsewhere each trace numbers blocks and sessions for itself: hit rates
and turns are lower bounds then, which the spec says. Requests that stand in two
logs are found by ingest alone, when it reads both at once.

Rows are read once and let go: ten million take less than two gigabytes. Above a
million requests or 24 million prefix blocks, sessions rest on some of them and
the cache curve on some of the blocks, chosen by chance, with the error said;
lengths, arrivals, features and the hit rates of an infinite cache are exact.`,
		Example: `  reprise fit day.trace.parquet -o draft.spec.json
  reprise fit mon.trace.parquet tue.trace.parquet wed.trace.parquet -o draft.spec.json`,
		Args: atLeast(1, "one trace or several"),
		RunE: func(c *cobra.Command, args []string) error {
			if order != "" && order != fit.OrderNamed && order != fit.OrderWeek {
				return usagef("--order is %s, want week or named", order)
			}
			hours, err := hoursZone(zone)
			if err != nil {
				return usageError{err}
			}
			inputs := slices.Clone(args)
			for _, path := range args {
				inputs = append(inputs, keys.Path(path))
			}
			if err := distinct(output, inputs...); err != nil {
				return err
			}
			var sp *spec.Spec
			err = unlessInterrupted(c.Context(), func() (err error) {
				sp, err = io.fitTraces(args, order, hours)
				return err
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
	c.Flags().StringVar(&order, "order", "", "how traces lie that have hours of the week and no dates: within one week, or as named, each behind the one before")
	c.Flags().StringVar(&zone, "timezone", "", "zone by whose clock hours of the day and the week are counted, such as Europe/Berlin or +02:00 (default: UTC); one with summer time needs a trace with dates (calendar: date in the policy of ingest)")
	outputFlag(c, &output, "spec to write")
	return c
}

// fitMemory is from where on garbage is collected at once: a fit of ten million
// requests stays below two gigabytes. GOMEMLIMIT takes its place.
const fitMemory = 1280 << 20

// fitTraces measures the traces at paths as one.
func (s *stdio) fitTraces(paths []string, order string, zone *time.Location) (*spec.Spec, error) {
	var shards []fit.Shard
	seen := map[string]string{} // by digest
	var rows int64
	for _, path := range paths {
		in, err := s.open(path)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		if first, ok := seen[in.sha256]; ok {
			return nil, usagef("%s is the same as %s: its requests would count twice", in.name, first)
		}
		seen[in.sha256] = in.name
		shard, err := in.shard()
		if err != nil {
			return nil, err
		}
		rows += shard.File.Header.Counts.Kept
		if len(paths) > 1 {
			beside, err := s.keysOf(in, &shard)
			if err != nil {
				return nil, err
			}
			defer beside.Close()
		}
		shards = append(shards, shard)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(fitMemory))
	}
	b := s.newBar("fit", rows, progress.UnitsDefault)
	defer b.close()
	return fit.FitShards(shards, fit.Options{Tool: version(), WordList: token.WordListSHA256(), Order: order, Zone: zone}, fit.DefaultLimits(), b.set)
}

// shard opens the input as a trace.
func (a *artifact) shard() (fit.Shard, error) {
	if !a.starts("PAR1") || within(a.name) != "" {
		return fit.Shard{}, a.noTrace()
	}
	f, err := trace.Open(a, a.size)
	if err != nil {
		return fit.Shard{}, fmt.Errorf("%s: %w", a.name, err)
	}
	return fit.Shard{Name: a.name, File: f}, nil
}

// keysOf opens the keys beside a trace, where there are any that are its own.
func (s *stdio) keysOf(in *artifact, shard *fit.Shard) (io.Closer, error) {
	path := keys.Path(in.name)
	if _, err := os.Stat(path); err != nil {
		return io.NopCloser(nil), nil
	}
	beside, err := s.open(path)
	if err != nil {
		return nil, err
	}
	f, err := keys.Open(beside, beside.size)
	switch {
	case err != nil:
		beside.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	case f.Header.Trace == in.sha256:
		shard.Keys = f
	default:
		s.talk("note: %s is of another trace than %s is now, and is not used", path, in.name)
	}
	return beside, nil
}

// readTrace reads a whole trace and returns it with the digest of its bytes.
func (s *stdio) readTrace(path string) (*trace.Trace, string, error) {
	in, err := s.open(path)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if !in.starts("PAR1") || within(in.name) != "" {
		return nil, "", in.noTrace()
	}
	t, err := trace.Load(in, in.size)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", in.name, err)
	}
	return t, in.sha256, nil
}
