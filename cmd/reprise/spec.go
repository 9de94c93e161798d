package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
	"reprise/trace/strictyaml"
	"reprise/trace/token"
)

type specOptions struct {
	stated       fit.Statement
	tokenizer    string
	systemPrompt string
	request      string
	output       string
}

func newSpec(io *stdio) *cobra.Command {
	var o specOptions
	c := &cobra.Command{
		Use:   "spec [BRIEF]",
		Short: "Make a spec from a brief or from stated numbers, when there are no logs",
		Long: `Spec makes a workload spec from what somebody states: a brief (YAML; reprise
init brief prints one), or flags. Every number in it is labelled assumed, with
the confidence that the brief gives it, and carries the data request that would
replace it.

Lengths are lognormal around the stated means (--sigma; 0 makes them constant)
or over stated ranges; arrivals are Poisson at the stated peak, with a burstier
variant beside it in a brief.

--system-prompt and --request count two files (text, or a chat request as JSON):
how long prompts are, and whether a request begins with the system prompt byte
for byte, which is what a prefix cache needs.`,
		Example: `  reprise init brief > brief.yaml && reprise spec brief.yaml -o draft.spec.json
  reprise spec --system-prompt system.txt --request one.json --output 300 --rate 8
  reprise spec --input 2000 --output 300 --rate 8 --shared-prefix 800 \
    | reprise synth - --for 60s | reprise replay - --url http://127.0.0.1:8000`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("reprise spec wants one brief at most; see reprise spec --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				for _, f := range []string{"input", "output", "rate", "shared-prefix", "sigma", "system-prompt", "request"} {
					if c.Flags().Changed(f) {
						return usagef("--%s and a brief do not go together: write it into the brief", f)
					}
				}
				return o.brief(io, args[0])
			}
			need := []string{"input", "output", "rate"}
			if o.request != "" {
				need = need[1:]
			}
			for _, f := range need {
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
	c.Flags().StringVar(&o.systemPrompt, "system-prompt", "", "file with the text that every prompt begins with; it is counted")
	c.Flags().StringVar(&o.request, "request", "", "file with one complete request; it is counted")
	c.Flags().StringVar(&o.tokenizer, "tokenizer", "o200k_base", "tokenizer that the lengths are counted in")
	c.Flags().StringVarP(&o.output, "out", "o", "", "spec to write (default stdout)")
	checkOutput(c, &o.output)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		bad := badFlag(c, err)
		if strings.Contains(err.Error(), `for "--output" flag`) {
			return usagef("%s (--output is the mean tokens of an answer; -o or --out is the file)", bad.Error())
		}
		return bad
	})
	return c
}

func (o *specOptions) run(s *stdio) error {
	t, err := token.Open(o.tokenizer)
	if err != nil {
		return err
	}
	if o.systemPrompt != "" || o.request != "" {
		if err := o.count(s, t); err != nil {
			return err
		}
	}
	o.stated.Tokenizer = trace.Named{Name: t.Name(), SHA256: t.SHA256()}
	o.stated.WordList = token.WordListSHA256()
	o.stated.Tool = version()
	sp, err := fit.Stated(o.stated)
	var wrong *fit.RangeError
	if errors.As(err, &wrong) {
		return usagef("--%s %s; see reprise spec --help", strings.ReplaceAll(wrong.Name, " ", "-"), wrong.Want)
	} else if err != nil {
		return usageError{err}
	}
	return s.writeSpec(o.output, sp)
}

// briefFile is a brief as it is written by hand: the workload, and what it says
// of the question.
type briefFile struct {
	fit.Brief  `yaml:",inline"`
	Region     string   `yaml:"region"`
	SLO        []string `yaml:"slo"`
	DateLabel  string   `yaml:"date_label"`
	Comparison string   `yaml:"comparison"`
	OutOfScope []string `yaml:"out_of_scope"`
	Today      *struct {
		Said     string `yaml:"said"`
		TakenFor string `yaml:"taken_for"`
	} `yaml:"today"`
}

func (o *specOptions) brief(s *stdio, path string) error {
	in, err := s.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if what := in.what(); what != "neither Parquet nor JSON" && what != "JSON" {
		return fmt.Errorf("%s is %s and not a brief: reprise init brief prints one, reprise fit makes a spec of a trace", in.name, what)
	}
	data, err := in.bytes()
	if err != nil {
		return err
	}
	var b briefFile
	if err := strictyaml.Decode(data, &b); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	t, err := token.Open(o.tokenizer)
	if err != nil {
		return err
	}
	sp, err := fit.FromBrief(&b.Brief, fit.BriefOptions{Tool: version(),
		Tokenizer: trace.Named{Name: t.Name(), SHA256: t.SHA256()}, WordList: token.WordListSHA256()})
	if err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	if err := b.question(&sp.Question); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	if missing := without(sp.Question.Missing(), "sentence"); len(missing) > 0 {
		s.talk("the question still lacks %s; reprise agree asks for them", strings.Join(missing, ", "))
	}
	return s.writeSpec(o.output, sp)
}

// question takes over what the brief says of it.
func (b *briefFile) question(q *spec.Question) error {
	q.Region, q.DateLabel, q.Comparison, q.OutOfScope = b.Region, b.DateLabel, b.Comparison, b.OutOfScope
	for _, line := range b.SLO {
		limit, err := parseSLO(line)
		if err != nil {
			return fmt.Errorf("slo: %w", err)
		}
		q.SLO = append(q.SLO, limit)
	}
	if b.Today == nil {
		return nil
	}
	limit, err := parseSLO(strings.Replace(b.Today.TakenFor, "=", "<=", 1))
	if err != nil || strings.Contains(b.Today.TakenFor, "<") {
		return errors.New(`today.taken_for is not of the form "e2e p50 = 8s at client" (ttft, tpot, itl or e2e): say which latency the quoted one is taken for`)
	}
	q.Today = &spec.Today{Said: b.Today.Said, Metric: limit.Metric, Percentile: limit.Percentile, ValueMS: limit.ThresholdMS, MeasuredAt: limit.MeasuredAt}
	return nil
}

// count reads the two files and says what a prefix cache would see.
func (o *specOptions) count(s *stdio, t *token.Tokenizer) error {
	var first, whole prompt
	for _, f := range []struct {
		path string
		to   *prompt
	}{{o.systemPrompt, &first}, {o.request, &whole}} {
		if f.path == "" {
			continue
		}
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		if *f.to, err = readPrompt(data); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	system, request := first.text, whole.text
	if bare := strings.TrimRight(system, "\r\n"); !strings.Contains(request, system) {
		system = bare // an editor's last newline is not the prompt's, unless the request has it too
	}
	sys, req := t.Encode(nil, system), t.Encode(nil, request)
	at := strings.Index(request, system)
	switch {
	case request == "":
		o.stated.SharedPrefix = len(sys)
		s.talk("the system prompt has %d tokens of %s", len(sys), t.Name())
		return nil
	case system == "":
		s.talk("the request has %d tokens of %s", len(req), t.Name())
	case at == 0:
		o.stated.SharedPrefix = commonTokens(sys, req)
		s.talk("the request begins with the system prompt, byte for byte: %d of its %d tokens can be shared", o.stated.SharedPrefix, len(req))
	case at > 0:
		before := t.Count(request[:at])
		s.talk("the system prompt stands %d tokens into the request, not at its start: whatever changes before it keeps all %d tokens from being shared; move it to the front", before, len(sys))
	case whole.opens || alike(sys, req, system, request):
		o.stated.SharedPrefix = commonTokens(sys, req)
		s.talk("the request begins otherwise than the system prompt, after %d tokens in common: only these can be shared, of the %d that could be", o.stated.SharedPrefix, couldShare(t, sys, system, &whole))
	default:
		s.talk("the request does not hold the system prompt; its own %d tokens are taken to follow it", len(req))
		o.stated.SharedPrefix = len(sys)
		req = append(sys, req...)
	}
	o.stated.Compared = request != "" && system != ""
	if o.stated.Input > 0 {
		s.talk("note: --input stands; the tokens of the request are not used")
		return nil
	}
	o.stated.Input = float64(len(req))
	if n := t.Count(whole.tools); n > 0 {
		o.stated.Input += float64(n)
		s.talk("note: its tool definitions are about %d tokens more; where they stand, and what a chat template adds, this does not tell: reprise ingest with --template does", n)
	}
	return nil
}
