package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan writes the command reference; `make docs` runs it.
func newMan(root *cobra.Command) *cobra.Command {
	var man bool
	c := &cobra.Command{
		Use:    "docs DIR",
		Short:  "Write the command reference",
		Hidden: true,
		Args:   exactly(1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			root.DisableAutoGenTag = true
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			if man {
				return doc.GenManTree(root, &doc.GenManHeader{Title: "REPRISE", Section: "1"}, args[0])
			}
			return doc.GenMarkdownTree(root, args[0])
		},
	}
	c.Flags().BoolVar(&man, "man", false, "write man pages instead of Markdown")
	return c
}
