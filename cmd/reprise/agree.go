package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit/page"
	"reprise/trace/spec"
	"reprise/trace/strictyaml"
)

// answers is the agreement as people write it by hand.
type answers struct {
	Mix         string   `yaml:"mix"`
	DateLabel   string   `yaml:"date_label"`
	Load        float64  `yaml:"load"`
	SLO         []string `yaml:"slo"`
	Region      string   `yaml:"region"`
	Comparison  string   `yaml:"comparison"`
	OutOfScope  []string `yaml:"out_of_scope"`
	ClientRunBy string   `yaml:"client_run_by"`
	Handoff     string   `yaml:"handoff_command"`
	Runs        []runRow `yaml:"runs"`
	Customer    string   `yaml:"customer"`
	Vendor      string   `yaml:"vendor"`
}

type runRow struct {
	Name     string  `yaml:"name"`
	Mode     string  `yaml:"mode"`
	Load     float64 `yaml:"load"`
	Duration string  `yaml:"duration"`
}

type agreeOptions struct {
	answers string
	revises string
	ask     bool
	output  string
}

func newAgree(io *stdio) *cobra.Command {
	var o agreeOptions
	c := &cobra.Command{
		Use:   "agree SPEC",
		Short: "Ask for the question, SLO, scope, region and runs, and merge them into the spec",
		Long: `Agree fills in the part of the spec that no log can tell: what is asked, under
which limits, where, compared with what, what is out of scope, and who signs.

The answers come from a file (see reprise init agreement) and, on a terminal,
from questions about whatever the file leaves open. The sentence of the
question is built from its parts; read it aloud before you sign.

What was bundled and signed is never changed: a change is a new revision, which
names what it replaces, is bundled and signed anew, and is what verify --newer
takes. Agree on a bundle makes one of the same workload; --revises BUNDLE makes
one of another, and takes over the answers that are left open.`,
		Example: `  reprise init agreement > agreement.yaml
  reprise agree spec.json --answers agreement.yaml -o agreed.spec.json
  reprise agree bundle/ --answers changed.yaml -o revision2.spec.json
  reprise agree october.spec.json --revises bundle/ -o revision2.spec.json`,
		Args: exactly(1, "one spec"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(io, args[0]) },
	}
	c.Flags().StringVar(&o.answers, "answers", "", "file with the answers (YAML)")
	c.Flags().StringVar(&o.revises, "revises", "", "bundle whose spec this one replaces, as its next revision")
	c.Flags().BoolVar(&o.ask, "ask", false, "ask on standard input even when it is not a terminal")
	outputFlag(c, &o.output, "spec to write")
	return c
}

func (o *agreeOptions) run(s *stdio, path string) error {
	sp, sha, err := s.readSpec(path)
	if err != nil {
		return err
	}
	old, err := s.replacedBy(sp, sha, o.revises)
	if err != nil {
		return err
	}
	var a answers
	if o.answers != "" {
		data, err := os.ReadFile(o.answers)
		if err != nil {
			return err
		}
		if err := strictyaml.Decode(data, &a); err != nil {
			return fmt.Errorf("%s: %w", o.answers, err)
		}
	}
	if err := a.merge(sp); err != nil {
		return fmt.Errorf("%s: %w", o.answers, err)
	}
	if old != nil {
		old.open(sp)
	}
	if path != "-" && (o.ask || terminal(s.in)) {
		if err := (&asker{in: bufio.NewReader(s.in), s: s}).ask(sp); err != nil {
			return err
		}
	}
	sp.Question.Sentence = ""
	if missing := without(sp.Question.Missing(), "sentence"); len(missing) > 0 {
		return withHint(fmt.Errorf("the question lacks %s", strings.Join(missing, ", ")),
			"fill in the answers file (reprise init agreement prints one), or run agree on a terminal")
	}
	if len(sp.Approvals) == 0 {
		return withHint(errors.New("nobody is named to sign: customer and vendor are empty"), "name them in the answers file")
	}
	sp.Question.Sentence = sp.Question.Build()
	sp.Status = spec.Proposed
	sp.Tool = version()
	s.talk("%s", sp.Question.Sentence)
	if principal(sp, "customer") == principal(sp, "vendor") {
		s.talk("warning: customer and vendor are the same, and verify refuses a bundle that one party signed for both")
	}
	if far := farLoad(sp); far != "" {
		s.talk("warning: %s", far)
	}
	if old != nil {
		changed, err := old.number(sp)
		if err != nil {
			return err
		}
		if !changed {
			return fmt.Errorf("nothing differs from revision %d, so there is nothing to agree on anew", old.spec.Revision)
		}
		s.talk("revision %d, which replaces revision %d (spec.json %s): bundle and sign it anew", sp.Revision, sp.Supersedes.Revision, sp.Supersedes.SHA256)
	}
	return s.writeSpec(o.output, sp)
}

func without(list []string, drop string) []string {
	var out []string
	for _, v := range list {
		if v != drop {
			out = append(out, v)
		}
	}
	return out
}

// merge overwrites with what the answers say and leaves the rest.
func (a *answers) merge(sp *spec.Spec) error {
	q := &sp.Question
	for _, f := range []struct {
		from string
		to   *string
	}{{a.Mix, &q.Mix}, {a.DateLabel, &q.DateLabel}, {a.Region, &q.Region}, {a.Comparison, &q.Comparison},
		{a.ClientRunBy, &q.ClientRunBy}, {a.Handoff, &q.Handoff}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if a.Load < 0 {
		return errors.New("load is negative")
	}
	if a.Load > 0 {
		q.Load = spec.Load{Value: spec.Round(a.Load), Unit: "1/s"}
	}
	if len(a.OutOfScope) > 0 {
		q.OutOfScope = a.OutOfScope
	}
	if len(a.SLO) > 0 {
		q.SLO = nil
		for _, line := range a.SLO {
			limit, err := parseSLO(line)
			if err != nil {
				return err
			}
			q.SLO = append(q.SLO, limit)
		}
	}
	if err := a.mergeRuns(sp); err != nil {
		return err
	}
	approve(sp, "customer", a.Customer)
	approve(sp, "vendor", a.Vendor)
	return nil
}

func (a *answers) mergeRuns(sp *spec.Spec) error {
	if len(a.Runs) > 0 {
		sp.Runs = nil
	}
	for i, r := range a.Runs {
		d, err := time.ParseDuration(r.Duration)
		if err != nil || d <= 0 {
			return fmt.Errorf("runs: row %d: the duration is not one such as 10m", i+1)
		}
		if r.Mode == rowClosed && d < leastLevel {
			return fmt.Errorf("runs: row %d: the duration of a closed loop is that of each of its levels, %v at least", i+1, leastLevel)
		}
		sp.Runs = append(sp.Runs, spec.Run{Name: r.Name, Mode: r.Mode, Load: spec.Load{Value: spec.Round(r.Load), Unit: "1/s"}, LastS: spec.Round(d.Seconds())})
	}
	return nil
}

func approve(sp *spec.Spec, role, principal string) {
	if principal == "" {
		return
	}
	for i := range sp.Approvals {
		if sp.Approvals[i].Role == role {
			sp.Approvals[i].Principal = principal
			return
		}
	}
	sp.Approvals = append(sp.Approvals, spec.Approval{Role: role, Principal: principal})
}

var sloForm = regexp.MustCompile(`^\s*(ttft|tpot|itl|e2e)\s+p(\d+(?:\.\d+)?)\s*<=\s*(\d+(?:\.\d+)?)\s*(ms|s)(?:\s+at\s+(client|server))?\s*$`)

// parseSLO reads "ttft p95 <= 800ms at client"; client is the default.
func parseSLO(line string) (spec.SLO, error) {
	m := sloForm.FindStringSubmatch(strings.ToLower(line))
	if m == nil {
		return spec.SLO{}, errors.New(`a limit is not of the form "ttft p95 <= 800ms at client" (ttft, tpot, itl or e2e)`)
	}
	percentile, _ := strconv.ParseFloat(m[2], 64)
	threshold, _ := strconv.ParseFloat(m[3], 64)
	if m[4] == "s" {
		threshold *= 1000
	}
	if m[5] == "" {
		m[5] = "client"
	}
	if !(percentile > 0 && percentile < 100) {
		return spec.SLO{}, fmt.Errorf("a limit is on a percentile above 0 and below 100, not on p%s: the largest value of a run grows with its length", m[2])
	}
	return spec.SLO{Metric: m[1], Percentile: spec.Round(percentile), ThresholdMS: spec.Round(threshold), MeasuredAt: m[5]}, nil
}

// farLoad says that the load asked about is far from what the workload had: more
// than twice its busiest hour, or less than half its mean; empty when it is not.
func farLoad(sp *spec.Spec) string {
	const far = 2
	a := &sp.Workload.Arrivals
	load, rate := float64(sp.Question.Load.Value), float64(a.Rate.Value)
	if !(load > 0) || !(rate > 0) || sp.Question.Load.Unit != a.Rate.Unit {
		return ""
	}
	top, busiest := rate, ""
	if p := a.PeakHour; p != nil && float64(p.Rate) > rate {
		top = float64(p.Rate)
		busiest = fmt.Sprintf(" (%s in its busiest hour)", page.Short(top))
	}
	if load <= far*top && load >= rate/far {
		return ""
	}
	return fmt.Sprintf("the question is about %s requests per second, %s times the %s that the spec has as %s%s: is that meant?",
		page.Short(load), page.Short(load/rate), page.Short(rate), a.Rate.From, busiest)
}

// asker puts the open questions to a person.
type asker struct {
	in *bufio.Reader
	s  *stdio
}

func (a *asker) ask(sp *spec.Spec) error {
	var got answers
	q := sp.Question
	var slo, scope, load string
	for _, f := range []struct {
		open   bool
		prompt string
		to     *string
	}{
		{q.Mix == "", "Which traffic is it (the mix, in a few words)?", &got.Mix},
		{q.DateLabel == "", "Which day does it stand for (as you would say it)?", &got.DateLabel},
		{q.Load.Value == 0, "Which arrival rate, in requests per second?", &load},
		{len(q.SLO) == 0, "Which limits, separated by commas (ttft p95 <= 800ms at client, …)?", &slo},
		{q.Region == "", "In which region?", &got.Region},
		{q.Comparison == "", "Compared with what (or none)?", &got.Comparison},
		{len(q.OutOfScope) == 0, "What is out of scope, separated by commas (or nothing)?", &scope},
		{q.ClientRunBy == "", "Who runs the client?", &got.ClientRunBy},
		{!named(sp, "customer"), "Who signs for the customer (an address, as in allowed_signers)?", &got.Customer},
		{!named(sp, "vendor"), "Who signs for the vendor?", &got.Vendor},
	} {
		if !f.open {
			continue
		}
		if err := a.line(f.prompt, f.to); err != nil {
			return err
		}
	}
	if load != "" {
		v, err := strconv.ParseFloat(load, 64)
		if err != nil {
			return errors.New("the arrival rate is not a number")
		}
		got.Load = v
	}
	got.SLO, got.OutOfScope = list(slo), list(scope)
	return got.merge(sp)
}

func (a *asker) line(prompt string, to *string) error {
	fmt.Fprintf(a.s.err, "%s ", prompt)
	text, err := a.in.ReadString('\n')
	*to = strings.TrimSpace(text)
	if err != nil && *to == "" {
		return errors.New("the answers ended before the questions")
	}
	return nil
}

func named(sp *spec.Spec, role string) bool {
	return slices.ContainsFunc(sp.Approvals, func(a spec.Approval) bool { return a.Role == role })
}

// principal is who signs for a role; for a role that nobody signs for, the role.
func principal(sp *spec.Spec, role string) string {
	for _, a := range sp.Approvals {
		if a.Role == role {
			return a.Principal
		}
	}
	return role
}

func list(s string) []string {
	var out []string
	for _, v := range strings.Split(s, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
