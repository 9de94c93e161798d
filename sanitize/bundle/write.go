package bundle

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/trace"
	"reprise/trace/spec"
)

// Input is what a bundle is made from. Spec and Trace are not changed.
type Input struct {
	Spec        *spec.Spec
	Trace       *trace.Trace // the local trace; nil when there is none
	TraceSHA256 string       // of the local trace's file, hex; needed with a trace
	Profile     string       // one of Profiles
	K, U        int          // thresholds; 0 for the defaults
	Calendar    string       // what labels may say at most; "" for hour_of_week
	Approvals   []spec.Approval
	Tool        trace.Tool
	// Searched and NotSearched are the account of what looked at the log before,
	// copied into the audit.
	Searched    []Search
	NotSearched []Gap
	// Forbidden lists strings, such as canaries, that no file may hold. The
	// hashes of the trace's sources are added to it.
	Forbidden []string
}

// Write makes the bundle dir, which must not exist. It builds in a temporary
// directory beside it and renames at the end, so after an error there is
// nothing under the name. Approvals, where given, replace those of the spec.
func Write(dir string, in Input) error {
	if err := in.check(); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if err := absent(dir); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".bundle-")
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := build(tmp, &in); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return publish(tmp, dir)
}

// publish gives a finished directory its name.
func publish(tmp, dir string) error {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if err := absent(dir); err != nil { // rename would replace an empty directory
		return fmt.Errorf("bundle: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return nil
}

func absent(dir string) error {
	_, err := os.Lstat(dir)
	if err == nil {
		return fmt.Errorf("%s exists already: choose another name", dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// check refuses what no bundle can be made from, and fills the defaults.
func (in *Input) check() error {
	if in.K == 0 {
		in.K = DefaultK
	}
	if in.U == 0 {
		in.U = DefaultU
	}
	if in.Calendar == "" {
		in.Calendar = trace.CalendarHourOfWeek
	}
	switch {
	case in.Spec == nil:
		return errors.New("there is no spec")
	case in.K < 0 || in.U < 0:
		return errors.New("k and u must be 1 or more")
	case !slices.Contains([]string{trace.CalendarNone, trace.CalendarHourOfWeek, trace.CalendarDate}, in.Calendar):
		return fmt.Errorf("calendar is %q, want none, hour_of_week or date", in.Calendar)
	case in.Spec.Status == spec.Withdrawn:
		return errors.New("the spec is withdrawn: make a new revision of it first")
	}
	if _, err := profileOf(in.Profile); err != nil {
		return err
	}
	if in.Trace != nil && !isSHA(in.TraceSHA256) {
		return errors.New("the SHA-256 of the local trace must be 64 lower-case hex digits")
	}
	if err := in.Spec.Question.Unanswered(); err != nil {
		return fmt.Errorf("%w; run agree first", err)
	}
	if err := fittedFrom(in.Spec, in.Trace); err != nil {
		return err
	}
	return in.checkApprovals()
}

func (in *Input) checkApprovals() error {
	if in.Approvals == nil {
		in.Approvals = in.Spec.Approvals
	}
	customer := false
	plain := regexp.MustCompile(`^[A-Za-z0-9@._+-]+$`)
	for _, a := range in.Approvals {
		customer = customer || a.Role == Customer
		if !plain.MatchString(a.Principal) { // it stands in commands that people copy
			return fmt.Errorf("the principal of the %s has signs other than letters, digits and @ . _ + -", a.Role)
		}
	}
	if customer {
		return nil
	}
	return errors.New("approvals_required names no customer: say who signs for each side")
}

func isSHA(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && s == strings.ToLower(s)
}

// build writes every file into an empty directory: first what leaves, then the
// audit of it read back from disk, then the page, then the spec over all.
func build(dir string, in *Input) error {
	out, err := in.leave()
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, SignDir), 0o755); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(dir, SignDir), 0o755); err != nil {
		return err
	}
	var listed []string
	if out.rows != nil {
		if err := writeTrace(filepath.Join(dir, TraceFile), out); err != nil {
			return err
		}
		listed = append(listed, TraceFile)
	}
	setPrivacy(in, out)
	a, err := audit(dir, in, out)
	if err != nil {
		return err
	}
	if err := writeAudit(filepath.Join(dir, AuditFile), a); err != nil {
		return err
	}
	if err := writeReview(dir, in, out, a); err != nil {
		return err
	}
	listed = append(listed, AuditFile, ReviewFile)
	if err := writeSpec(dir, out.spec, listed); err != nil {
		return err
	}
	if err := writeReadme(dir, out.spec); err != nil {
		return err
	}
	return searchAll(dir, in.forbidden())
}

// leave applies the profile to a copy of the spec.
func (in *Input) leave() (*leaving, error) {
	given := *in.Spec
	given.Approvals, given.Artifacts, given.Status, given.Tool = in.Approvals, nil, spec.Proposed, in.Tool
	raw, err := spec.Encode(&given)
	if err != nil {
		return nil, err
	}
	copied, err := spec.Decode(raw)
	if err != nil {
		return nil, err
	}
	out := &leaving{spec: copied, user: userRule(in)}
	p, err := profileOf(in.Profile)
	if err != nil {
		return nil, err
	}
	if err := p.apply(in, out); err != nil {
		return nil, fmt.Errorf("profile %s: %w", in.Profile, err)
	}
	return out, nil
}

func writeTrace(path string, out *leaving) error {
	return create(path, func(f *os.File) error { return trace.Write(f, out.header, out.rows) })
}

// create writes a new file that everybody may read.
func create(path string, fill func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Chmod(0o644) // whatever the umask
	}
	return errors.Join(err, f.Close())
}

func createBytes(path string, data []byte) error {
	return create(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// setPrivacy states the profile in the spec.
func setPrivacy(in *Input, out *leaving) {
	held := slices.Clone(out.held)
	if held == nil {
		held = []string{}
	}
	out.spec.Privacy = spec.Privacy{Profile: in.Profile, K: in.K, U: in.U, Calendar: in.calendar(out),
		Leaves: leaves(out), HeldBack: held}
}

// calendar is what the labels that leave say: at most what the policy allows,
// and no more than the log knows.
func (in *Input) calendar(out *leaving) string {
	if out.rows != nil {
		return out.header.Time.Calendar
	}
	if in.Trace != nil {
		return coarser(in.Trace.Header.Time.Calendar, in.Calendar)
	}
	return coarser(in.Spec.Privacy.Calendar, in.Calendar)
}

// writeSpec lists the files by size and hash and writes the spec.
func writeSpec(dir string, s *spec.Spec, listed []string) error {
	slices.Sort(listed)
	s.Artifacts = nil
	for _, name := range listed {
		a, err := digest(filepath.Join(dir, name), name)
		if err != nil {
			return err
		}
		s.Artifacts = append(s.Artifacts, a)
	}
	raw, err := spec.Encode(s)
	if err != nil {
		return err
	}
	if _, err := spec.Decode(raw); err != nil {
		return err
	}
	return createBytes(filepath.Join(dir, SpecFile), raw)
}
