package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/sanitize/bundle"
	"reprise/trace"
)

type bundleOptions struct {
	profile  string
	k, u     int
	calendar string
	output   string
}

func newBundle(s *stdio) *cobra.Command {
	var o bundleOptions
	c := &cobra.Command{
		Use:   "bundle SPEC [TRACE]",
		Short: "Apply the leakage profile and write the folder that leaves",
		Long: `Bundle applies a leakage profile to an agreed spec and its local trace, and
writes the folder that leaves the customer: the spec, the trace where the
profile lets it go, an audit and a page for the security reviewer.

With the profile exact the trace leaves with exact lengths and times from
zero, and without clients. With aggregate only the spec leaves, and every
number in it rests on at least k requests of at least u clients.`,
		Example: `  reprise bundle agreed.spec.json day.trace.parquet --profile exact -o bundle/
  reprise bundle agreed.spec.json day.trace.parquet --profile aggregate -o bundle.tar.zst`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("reprise bundle wants a spec, and a trace; see reprise bundle --help")
			}
			if o.output == "" {
				return usagef("-o is missing: the folder (or .tar.zst) to write")
			}
			if !slices.Contains(bundle.Profiles(), o.profile) {
				return usagef("--profile is %q, want one of %s", o.profile, strings.Join(bundle.Profiles(), ", "))
			}
			if o.output == "-" {
				return usagef("a bundle is a folder and does not go to stdout: give -o FOLDER or -o FILE.tar.zst")
			}
			if o.k < 1 || o.u < 1 {
				return usagef("--k and --u are 1 or more")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(s, args) },
	}
	c.Flags().StringVar(&o.profile, "profile", "", "what may leave: "+strings.Join(bundle.Profiles(), ", "))
	c.Flags().IntVar(&o.k, "k", 20, "a published number rests on at least this many requests")
	c.Flags().IntVar(&o.u, "u", 5, "and on at least this many clients, where the log names them")
	c.Flags().StringVar(&o.calendar, "calendar", trace.CalendarHourOfWeek, "what is said of dates: none, hour_of_week, date")
	c.Flags().StringVarP(&o.output, "output", "o", "", "folder, or FILE.tar.zst, to write")
	return c
}

func (o *bundleOptions) run(s *stdio, args []string) error {
	sp, _, err := s.readSpec(args[0])
	if err != nil {
		return err
	}
	in := bundle.Input{Spec: sp, Profile: o.profile, K: o.k, U: o.u, Calendar: o.calendar, Tool: version()}
	if len(args) == 2 {
		if in.Trace, in.TraceSHA256, err = s.readTrace(args[1]); err != nil {
			return err
		}
	}
	if !strings.HasSuffix(o.output, ".tar.zst") {
		if err := bundle.Write(o.output, in); err != nil {
			return err
		}
		s.talk("wrote %s; next: reprise sign %s --role customer --key KEY", o.output, o.output)
		return nil
	}
	return o.packed(s, in)
}

// packed writes the folder beside the archive's final place, packs and drops it.
func (o *bundleOptions) packed(s *stdio, in bundle.Input) error {
	if _, err := os.Lstat(o.output); err == nil {
		return fmt.Errorf("%s exists already", o.output)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(o.output), ".bundle-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "bundle")
	if err := bundle.Write(dir, in); err != nil {
		return err
	}
	if err := s.write(o.output, 0o644, true, func(w io.Writer) error { return bundle.Pack(dir, w) }); err != nil {
		return err
	}
	s.talk("wrote %s", o.output)
	return nil
}
