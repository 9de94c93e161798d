package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"reprise/trace/strictyaml"
)

// unknownVerb says which verb may have been meant.
func unknownVerb(root *cobra.Command, name string) error {
	var verbs []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			verbs = append(verbs, c.Name())
		}
	}
	return usagef("unknown verb %q%s; see reprise --help", name, didYouMean("", name, verbs))
}

// didYouMean names what is nearest, with the dashes of a flag.
func didYouMean(dashes, name string, known []string) string {
	near := strictyaml.Nearest(name, known)
	if i := slices.IndexFunc(known, func(k string) bool { return letters(k) == letters(name) }); i >= 0 {
		near = known[i] // letters that changed places
	}
	if near == "" {
		return ""
	}
	return "; did you mean " + dashes + near + "?"
}

func letters(s string) string {
	r := []rune(s)
	slices.Sort(r)
	return string(r)
}

// badFlag says in words what is wrong with a flag, and which may have been
// meant.
func badFlag(c *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var flags []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags = append(flags, f.Name)
			}
		})
		slices.Sort(flags)
		hint = didYouMean("--", unknown.GetSpecifiedName(), flags)
		if hint == "" && unknown.GetSpecifiedName() == "o" {
			hint = ": its data goes to stdout"
		}
	}
	return usagef("%s%s; see %s --help", plainly(err), hint, c.CommandPath())
}

// plainly says of a flag's value what is wanted, without the words of the
// function that reads it.
func plainly(err error) string {
	text := err.Error()
	at := strings.Index(text, "invalid argument ")
	if at < 0 {
		return text
	}
	for _, w := range []struct{ by, want string }{
		{": strconv.ParseUint: ", "a whole number, 0 or more"},
		{": strconv.ParseInt: ", "a whole number"},
		{": strconv.Atoi: ", "a whole number"},
		{": strconv.ParseFloat: ", "a number"},
		{": strconv.ParseBool: ", "true or false"},
		{": time: ", "a time with its unit, such as 90s or 5m"},
	} {
		if head, tail, ok := strings.Cut(text, w.by); ok {
			if strings.Contains(tail, "out of range") {
				return head + ": it is out of range"
			}
			if m := regexp.MustCompile(`^parsing ("[^"]*")`).FindStringSubmatch(tail); m != nil && !strings.Contains(head, m[1]) {
				head += ": " + m[1] // one of several
			}
			return head + ": want " + w.want
		}
	}
	return text
}

// together says in words that flags of a group exclude each other.
func together(err error) string {
	m := regexp.MustCompile(`none of the others can be; \[(.*)\] were all set`).FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	flags := strings.Fields(m[1])
	for i := range flags {
		flags[i] = "--" + flags[i]
	}
	return strings.Join(flags, " and ") + " do not go together"
}
