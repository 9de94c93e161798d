package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/sanitize/bundle"
	"reprise/trace/sign"
	"reprise/trace/spec"
)

type signOptions struct{ role, key string }

func newSign(io *stdio) *cobra.Command {
	var o signOptions
	c := &cobra.Command{
		Use:   "sign BUNDLE",
		Short: "Sign a bundle's spec with an SSH key, as customer or vendor",
		Long: `Sign shows the question and what leaves, then runs ssh-keygen -Y sign on spec.json, which lists
every other file by its SHA-256: one signature covers all. An agent, a
passphrase and a hardware key work as they do with ssh-keygen; the private key
never enters this process. The customer signs first.`,
		Example: `  reprise sign bundle/ --role customer --key ~/.ssh/id_ed25519`,
		Args:    exactly(1, "one bundle"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.role == "" {
				return usagef("--role is missing: customer or vendor, as who signs")
			}
			if !slices.Contains(spec.Roles(), o.role) {
				return usagef("--role is %q, want customer or vendor", o.role)
			}
			if o.key == "" {
				return usagef("--key is missing: the private key, or the .pub file of a key held by an agent")
			}
			b, err := io.openBundle(args[0])
			if err != nil {
				return err
			}
			defer b.Close()
			sp, err := b.Ready(o.role)
			if err != nil {
				return err
			}
			io.showAgreed(sp)
			if err := b.Sign(c.Context(), o.role, o.key, sign.Prompt{Stderr: quiet{io.err}}); err != nil {
				return err
			}
			io.talk("signed as %s: %s", o.role, args[0])
			return nil
		},
	}
	c.Flags().StringVar(&o.role, "role", "", "customer or vendor")
	c.Flags().StringVar(&o.key, "key", "", "SSH key to sign with")
	return c
}

// showAgreed tells what is about to be signed.
func (s *stdio) showAgreed(sp *spec.Spec) {
	q := &sp.Question
	s.talk("the question: %s", q.Sentence)
	s.talk("compared with: %s; out of scope: %s; the client is run by: %s", q.Comparison, strings.Join(q.OutOfScope, ", "), q.ClientRunBy)
	for _, r := range sp.Runs {
		long := ""
		if r.LastS > 0 {
			long = fmt.Sprintf(", for %v s", float64(r.LastS))
		}
		s.talk("run %s: %s, %s%s", r.Name, strings.ReplaceAll(r.Mode, "_", " "), r.Load, long)
	}
	s.talk("what leaves: %s (review.html has the fields)", strings.Join(leavingFiles(sp.Privacy.Leaves), ", "))
}

// leavingFiles counts the fields that leave by file.
func leavingFiles(leaves []string) []string {
	fields := map[string]int{}
	for _, l := range leaves {
		file, _, hasField := strings.Cut(l, ": ")
		if n := fields[file]; hasField {
			fields[file] = n + 1
		} else {
			fields[file] = n
		}
	}
	var out []string
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		if n := fields[f]; n > 0 {
			f = fmt.Sprintf("%s with %d fields", f, n)
		}
		out = append(out, f)
	}
	return out
}

// quiet drops the one line that ssh-keygen always says.
type quiet struct{ w io.Writer }

func (q quiet) Write(p []byte) (int, error) {
	if _, err := q.w.Write(bytes.ReplaceAll(p, []byte("Signing data on standard input\n"), nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

type verifyOptions struct {
	signers    string
	superseded string
	asJSON     bool
}

func newVerify(s *stdio) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check every file and every signature of a bundle",
		Long: `Verify checks that the spec is well formed and in force, that each file which it
lists is there with that size and SHA-256 and no other file beside them, and that
each required role has signed with a key of the allowed_signers file. That file
is your own; it never comes from the bundle. README.txt is neither listed nor
checked: trust nothing that stands in it alone.

Exit code 0: all hold. 3: no, with the reason.`,
		Example: `  reprise verify bundle/ --allowed-signers allowed_signers`,
		Args:    exactly(1, "one bundle"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.signers == "" {
				return usagef("--allowed-signers is missing: the file that says which keys are whose")
			}
			return o.run(s, args[0])
		},
	}
	c.Flags().StringVar(&o.signers, "allowed-signers", "", "allowed_signers file, as ssh-keygen reads it")
	c.Flags().StringVar(&o.superseded, "newer", "", "a later spec; one that supersedes this bundle's makes the answer no")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print the answer as JSON")
	return c
}

func (o *verifyOptions) run(s *stdio, path string) error {
	data, err := os.ReadFile(o.signers)
	if err != nil {
		return err
	}
	signers, err := sign.ParseAllowedSigners(data)
	if err != nil {
		return fmt.Errorf("%s: %w", o.signers, err)
	}
	var newer *spec.Spec
	if o.superseded != "" {
		if newer, _, err = s.readSpec(o.superseded); err != nil {
			return err
		}
	}
	r, err := o.check(s, path, signers, newer)
	if err != nil {
		return err
	}
	if err := o.print(s.out, r); err != nil {
		return err
	}
	if !r.OK {
		return verdict{exitNo, ""}
	}
	return nil
}

// check verifies what is at path. What is there but is no whole bundle is an
// answer too.
func (o *verifyOptions) check(s *stdio, path string, signers *sign.AllowedSigners, newer *spec.Spec) (bundle.Report, error) {
	b, err := s.openBundle(path)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		return bundle.Report{}, err
	}
	if err != nil {
		return bundle.Report{Reasons: []bundle.Reason{{Code: bundle.ArtifactMismatch, Detail: oneLine(err.Error())}}, Signed: []bundle.Signed{}}, nil
	}
	defer b.Close()
	return b.Verify(signers, time.Now(), newer), nil
}

func (o *verifyOptions) print(w io.Writer, r bundle.Report) error {
	if o.asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.Text(w)
}
