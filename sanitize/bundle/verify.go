package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"reprise/trace/sign"
	"reprise/trace/spec"
)

// Report is the answer of Verify: OK when nothing speaks against the bundle.
type Report struct {
	OK       bool     `json:"ok"`
	Revision int      `json:"revision,omitempty"`
	SHA256   string   `json:"spec_sha256,omitempty"` // of the signed bytes
	Reasons  []Reason `json:"reasons"`
	Signed   []Signed `json:"signed"`
}

// Signed is a signature that holds.
type Signed struct {
	Role        string `json:"role"`
	Principal   string `json:"principal"`
	Fingerprint string `json:"fingerprint"`
}

// Text writes the report for a person: a line for each signature that holds
// and for each reason, and the answer.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, s := range r.Signed {
		fmt.Fprintf(&b, "signed by the %s: %s, %s\n", s.Role, s.Principal, s.Fingerprint)
	}
	for _, x := range r.Reasons {
		fmt.Fprintf(&b, "%s: %s\n", x.Code, x.Detail)
	}
	if r.OK {
		fmt.Fprintf(&b, "verified: revision %d, spec.json %s\n", r.Revision, r.SHA256)
	} else {
		b.WriteString("not verified\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Verify checks everything: the spec, that it is in force, every file against
// the list in it, and for each role in approvals_required a signature of the
// principal named there, in the role's namespace, with a key that signers, the
// caller's own list, allows at the time at. newer, which may be nil, is a later
// revision that the caller trusts; it supersedes the bundle where it names the
// bundle's spec, or is more than one revision on.
func (b *Bundle) Verify(signers *sign.AllowedSigners, at time.Time, newer *spec.Spec) Report {
	r := Report{Reasons: []Reason{}, Signed: []Signed{}}
	s, raw, err := b.load()
	if raw != nil {
		r.SHA256 = hash(raw)
	}
	if err != nil {
		r.Reasons = append(r.Reasons, reason(BadSpec, "%v", err))
		return r
	}
	r.Revision = s.Revision
	r.Reasons = append(r.Reasons, inForce(s, r.SHA256, newer)...)
	r.Reasons = append(r.Reasons, b.artifacts(s)...)
	r.Reasons = append(r.Reasons, b.signatures(s, raw, signers, at, &r)...)
	r.OK = len(r.Reasons) == 0
	return r
}

func hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// inForce checks the status and the chain of revisions.
func inForce(s *spec.Spec, sha string, newer *spec.Spec) []Reason {
	var out []Reason
	switch s.Status {
	case spec.Withdrawn:
		out = append(out, reason(WithdrawnCode, "revision %d is withdrawn", s.Revision))
	case spec.Draft:
		out = append(out, reason(BadSpec, "the spec is a draft: bundle it to propose it"))
	}
	if newer == nil || newer.Supersedes == nil {
		return out
	}
	if newer.Supersedes.SHA256 == sha || newer.Revision > s.Revision+1 {
		out = append(out, reason(Superseded, "revision %d replaces revision %d", newer.Revision, s.Revision))
	}
	return out
}

// signatures checks one signature for each role that must approve.
func (b *Bundle) signatures(s *spec.Spec, raw []byte, signers *sign.AllowedSigners, at time.Time, r *Report) []Reason {
	var out []Reason
	customer := false
	for _, a := range s.Approvals {
		customer = customer || a.Role == Customer
		who, why, ok := b.signature(a, raw, signers, at)
		if !ok {
			out = append(out, why)
			continue
		}
		r.Signed = append(r.Signed, Signed{a.Role, who.Principal, who.Fingerprint})
	}
	out = append(out, oneSigner(r.Signed)...)
	if !customer {
		out = append(out, reason(MissingRole, "the spec asks for no approval of the customer"))
	}
	return out
}

// oneSigner refuses two roles that one party signed: an agreement takes two.
func oneSigner(signed []Signed) []Reason {
	for i, a := range signed {
		for _, b := range signed[:i] {
			switch {
			case a.Fingerprint == b.Fingerprint:
				return []Reason{reason(OneSigner, "the %s and the %s signed with one key, %s", b.Role, a.Role, a.Fingerprint)}
			case a.Principal == b.Principal:
				return []Reason{reason(OneSigner, "%s signed as the %s and as the %s", a.Principal, b.Role, a.Role)}
			}
		}
	}
	return nil
}

func (b *Bundle) signature(a spec.Approval, raw []byte, signers *sign.AllowedSigners, at time.Time) (sign.Signer, Reason, bool) {
	name := SignatureFile(a.Role)
	armored, err := b.read(name, maxSig)
	if errors.Is(err, fs.ErrNotExist) {
		return sign.Signer{}, reason(MissingRole, "the %s (%s) has not signed", a.Role, a.Principal), false
	}
	if err != nil {
		return sign.Signer{}, reason(BadSignature, "%v", err), false
	}
	namespace, err := Namespace(a.Role)
	if err != nil {
		return sign.Signer{}, reason(BadSpec, "%v", err), false
	}
	if signers == nil {
		return sign.Signer{}, reason(UnknownSigner, "no list of allowed signers was given for %s", a.Principal), false
	}
	who, err := sign.Verify(raw, armored, signers, a.Principal, namespace, at)
	if err != nil {
		return sign.Signer{}, reason(codeOf(err), "%s: %v", name, err), false
	}
	return who, Reason{}, true
}

// codeOf sorts the errors of package sign. A signature for another purpose, or
// one that cannot be read, is a bad one.
func codeOf(err error) Code {
	switch {
	case errors.Is(err, sign.ErrUnknownSigner):
		return UnknownSigner
	case errors.Is(err, sign.ErrExpired):
		return Expired
	}
	return BadSignature
}
