package main

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed examples/agreement.yaml
var agreementExample string

//go:embed examples/policy.yaml
var policyExample string

//go:embed examples/faults.yaml
var faultsExample string

//go:embed examples/brief.yaml
var briefExample string

//go:embed examples/mapping.yaml
var mappingExample string

//go:embed examples/plan.yaml
var planExample string

func newInit(io *stdio) *cobra.Command {
	examples := map[string]string{"agreement": agreementExample, "policy": policyExample, "faults": faultsExample, "brief": briefExample,
		"mapping": mappingExample, "plan": planExample}
	kinds := slices.Sorted(maps.Keys(examples))
	var output string
	c := &cobra.Command{
		Use:       "init KIND",
		Short:     "Print a commented example of a file that people write by hand",
		Long:      "Init prints a commented example of a file that people write by hand.\n\nKinds: " + strings.Join(kinds, ", "),
		Example:   "  reprise init agreement > agreement.yaml",
		ValidArgs: kinds,
		Args:      exactly(1, "one kind ("+strings.Join(kinds, ", ")+")"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, ok := examples[args[0]]
			if !ok {
				return usagef("unknown kind %q%s; known: %s", args[0], didYouMean("", args[0], kinds), strings.Join(kinds, ", "))
			}
			return io.writeBytes(output, []byte(text))
		},
	}
	outputFlag(c, &output, "file to write")
	return c
}
