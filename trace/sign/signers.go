package sign

import (
	"bytes"
	"fmt"
	"time"
)

// AllowedSigners is a parsed list of who may sign: the file that ssh-keygen
// calls allowed_signers.
type AllowedSigners struct {
	entries []entry
}

// entry is one line that holds a key.
type entry struct {
	line       int
	principals string // pattern list
	ca         bool   // the key signs certificates; kept, never used
	namespaces *string
	after      *moment
	before     *moment
	keyType    string
	key        []byte // public key blob
}

// Len returns the number of keys listed, certificate authorities included.
func (a *AllowedSigners) Len() int {
	if a == nil {
		return 0
	}
	return len(a.entries)
}

// Principals returns the principals fields (pattern lists, in file order) of
// the lines that hold the key with this fingerprint and are valid at the
// time: who the key belongs to, as `ssh-keygen -Y find-principals` tells it.
func (a *AllowedSigners) Principals(fingerprint256 string, at time.Time) []string {
	if a == nil {
		return nil
	}
	var out []string
	for i := range a.entries {
		e := &a.entries[i]
		if !e.ca && fingerprint(e.key) == fingerprint256 && e.validAt(at) == nil {
			out = append(out, e.principals)
		}
	}
	return out
}

// allow says whether one line allows the key for all of principal, namespace
// and time. If none does, the error is of the line that came closest.
func (a *AllowedSigners) allow(key []byte, principal, namespace string, at time.Time) error {
	if principal == "" {
		return fmt.Errorf("%w: no principal was asked for", ErrUnknownSigner)
	}
	fp := fingerprint(key)
	worst := fmt.Errorf("%w: key %s is not in the list of allowed signers", ErrUnknownSigner, fp)
	rank := 0
	if a == nil {
		return worst
	}
	for i := range a.entries {
		e := &a.entries[i]
		if !bytes.Equal(e.key, key) {
			continue
		}
		n, err := e.allow(principal, namespace, at)
		if err == nil {
			return nil
		}
		if n > rank {
			rank, worst = n, fmt.Errorf("%w (key %s)", err, fp)
		}
	}
	return worst
}

// allow returns why the line does not allow the use, and how far it got.
func (e *entry) allow(principal, namespace string, at time.Time) (int, error) {
	if e.ca {
		return 1, fmt.Errorf("%w: line %d lists the key as cert-authority only", ErrUnknownSigner, e.line)
	}
	if !matchList(e.principals, principal) {
		return 2, fmt.Errorf("%w: line %d lists the key for others than %q", ErrUnknownSigner, e.line, principal)
	}
	if e.namespaces != nil && !matchList(*e.namespaces, namespace) {
		return 3, fmt.Errorf("%w: line %d does not allow %q for %q", ErrNamespace, e.line, principal, namespace)
	}
	return 4, e.validAt(at)
}

// validAt compares in whole seconds, both ends included, as ssh-keygen does.
func (e *entry) validAt(at time.Time) error {
	switch {
	case at.IsZero():
		return fmt.Errorf("%w: no time to verify at was given", ErrExpired)
	case e.after != nil && at.Unix() < e.after.unix(at.Location()):
		return fmt.Errorf("%w: line %d allows the key only later", ErrExpired, e.line)
	case e.before != nil && at.Unix() > e.before.unix(at.Location()):
		return fmt.Errorf("%w: line %d allows the key only earlier, it has expired", ErrExpired, e.line)
	}
	return nil
}
