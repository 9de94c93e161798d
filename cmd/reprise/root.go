package main

import (
	"errors"

	"github.com/spf13/cobra"
)

const about = `Reprise turns a day of LLM request logs into a workload spec that both sides
sign, and replays it, open loop, at an OpenAI-compatible endpoint.

  day of logs --ingest--> trace --fit--> spec --agree, bundle, sign--> signed spec
                            |               |
                           cut            synth
                            |               |
                            +---> replay <--+ ---> results ---> report

Each verb reads one kind of artifact and writes one kind; "-" is standard
input or output. Data goes to stdout, talk to stderr.

Exit codes: 0 done; 1 failed; 2 wrong command line; 3 the answer is no
(signature invalid, SLO missed); 4 ran, but do not trust it (the client was
late); 130 interrupted, partial result kept.`

func newRoot(io *stdio) *cobra.Command {
	root := &cobra.Command{
		Use:           "reprise",
		Short:         "Turn request logs into a signed workload spec, and replay it",
		Long:          about,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(c, args[0])
			}
			return nil
		},
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		Version: version().Version,
	}
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := c.ValidateFlagGroups(); err != nil {
			return usagef("%s; see %s --help", together(err), c.CommandPath())
		}
		return nil
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(badFlag)
	root.AddGroup(
		&cobra.Group{ID: "spec", Title: "From logs to a signed spec:"},
		&cobra.Group{ID: "load", Title: "From a spec or a trace to a report:"},
		&cobra.Group{ID: "look", Title: "Look and learn:"},
	)
	add := func(group string, verbs ...*cobra.Command) {
		for _, v := range verbs {
			v.GroupID = group
			root.AddCommand(v)
		}
	}
	add("spec", newInspect(io), newIngest(io), newFit(io), newSpec(io), newAgree(io), newBundle(io), newSign(io), newVerify(io))
	add("load", newSynth(io), newCompare(io), newCut(io), newReplay(io), newSweep(io), newReport(io), newMock(io))
	add("look", newShow(io), newInit(io), newDemo(io))
	root.AddCommand(newMan(root))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	known(root)
	return root
}

// exactly checks the number of arguments and says in words what is wanted.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s wants %s; see %s --help", c.CommandPath(), want, c.CommandPath())
		}
		return nil
	}
}

func atLeast(n int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s wants %s; see %s --help", c.CommandPath(), want, c.CommandPath())
		}
		return nil
	}
}

// outputFlag is the -o of every verb that writes one file.
func outputFlag(c *cobra.Command, path *string, what string) {
	c.Flags().StringVarP(path, "output", "o", "", what+" (default stdout)")
	checkOutput(c, path)
}

// checkOutput refuses, before any work is done, an output that cannot be written
// or would overwrite what is wanted yet.
func checkOutput(c *cobra.Command, path *string) {
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		if err := distinct(*path, args...); err != nil {
			return err
		}
		return errors.Join(writable(*path), spared(*path))
	}
}

// known lets help and completion refuse names that they do not know.
func known(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); len(args) > 0 && (err != nil || found == root) {
					return unknownVerb(root, args[0])
				}
				return nil
			}
		case "completion":
			c.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usagef("no completion for %q: want bash, zsh, fish or powershell", args[0])
				}
				return nil
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}
