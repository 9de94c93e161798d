package main

import (
	"fmt"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
)

// replaced is the spec of a bundle that a new revision takes the place of.
type replaced struct {
	spec   *spec.Spec
	sha256 string // of the bytes that were signed
}

// replacedBy finds what sp, read from bytes of digest sha, replaces: the spec
// that revises names, or sp itself when it comes out of a bundle; nil for a first
// revision.
func (s *stdio) replacedBy(sp *spec.Spec, sha, revises string) (*replaced, error) {
	if revises == "" {
		if len(sp.Artifacts) == 0 {
			return nil, nil
		}
		old := *sp
		return &replaced{&old, sha}, nil
	}
	old, oldSHA, err := s.readSpec(revises)
	if err != nil {
		return nil, err
	}
	if len(old.Artifacts) == 0 {
		return nil, withHint(fmt.Errorf("%s is not out of a bundle, so nobody can have signed it", revises), "name the bundle's folder, or the spec.json in it")
	}
	return &replaced{old, oldSHA}, nil
}

// open fills what sp leaves open from the agreement that is replaced.
func (r *replaced) open(sp *spec.Spec) {
	q, old := &sp.Question, &r.spec.Question
	for _, f := range []struct{ to, from *string }{{&q.Mix, &old.Mix}, {&q.DateLabel, &old.DateLabel}, {&q.Region, &old.Region},
		{&q.Comparison, &old.Comparison}, {&q.ClientRunBy, &old.ClientRunBy}, {&q.Handoff, &old.Handoff}} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if q.Load.Value == 0 {
		q.Load = old.Load
	}
	if len(q.SLO) == 0 {
		q.SLO = slices.Clone(old.SLO)
	}
	if len(q.OutOfScope) == 0 {
		q.OutOfScope = slices.Clone(old.OutOfScope)
	}
	if len(sp.Runs) == 0 {
		sp.Runs = slices.Clone(r.spec.Runs)
	}
	if len(sp.Approvals) == 0 {
		sp.Approvals = slices.Clone(r.spec.Approvals)
	}
}

// number makes sp the next revision, or tells that nothing differs.
func (r *replaced) number(sp *spec.Spec) (changed bool, err error) {
	a, err := agreedPart(sp)
	if err != nil {
		return false, err
	}
	b, err := agreedPart(r.spec)
	if err != nil || a == b {
		return false, err
	}
	sp.Revision = r.spec.Revision + 1
	sp.Supersedes = &spec.Supersedes{Revision: r.spec.Revision, SHA256: r.sha256}
	sp.Artifacts = nil // those of the new bundle are listed when it is made
	return true, nil
}

// agreedPart encodes what two sides agree on: all but the place in the chain, the
// files, and what wrote it.
func agreedPart(sp *spec.Spec) (string, error) {
	c := *sp
	c.Revision, c.Supersedes, c.Status, c.Artifacts, c.Tool = 1, nil, spec.Draft, nil, trace.Tool{}
	data, err := spec.Encode(&c)
	return string(data), err
}
