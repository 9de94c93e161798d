package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/trace/sign"
	"reprise/trace/spec"
)

// Ready returns the spec that a role would sign now, or why it cannot. Sign
// then signs that one, or none.
func (b *Bundle) Ready(role string) (*spec.Spec, error) {
	if _, err := Namespace(role); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	s, raw, err := b.load()
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if err := b.ready(s, role); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	b.shown = raw
	return s, nil
}

// Sign signs the spec for a role with ssh-keygen and stores the signature. It
// refuses to sign what is not ready: an open question, a changed file, a role
// that is not asked for, a vendor before the customer. A signature that is
// there is never replaced. A packed bundle is packed again with the signature.
func (b *Bundle) Sign(ctx context.Context, role, keyPath string, prompt sign.Prompt) error {
	namespace, err := Namespace(role)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	s, raw, err := b.load()
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if err := b.ready(s, role); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if b.shown != nil && !bytes.Equal(b.shown, raw) {
		return fmt.Errorf("sign: %s is not the one that was shown; nothing was signed", SpecFile)
	}
	armored, err := sign.Sign(ctx, keyPath, namespace, raw, prompt)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if _, now, err := b.load(); err != nil || !bytes.Equal(now, raw) {
		return fmt.Errorf("sign: %s changed while it was being signed; nothing was stored", SpecFile)
	}
	if err := b.store(SignatureFile(role), armored); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	return b.repack()
}

// ready says why a role cannot sign yet.
func (b *Bundle) ready(s *spec.Spec, role string) error {
	if s.Status != spec.Proposed {
		return fmt.Errorf("the spec is %s, and only a proposed one is signed", s.Status)
	}
	if err := s.Question.Unanswered(); err != nil {
		return fmt.Errorf("%w; run agree on the bundle, which makes the next revision", err)
	}
	roles := map[string]bool{}
	for _, a := range s.Approvals {
		roles[a.Role] = true
	}
	if !roles[role] {
		return fmt.Errorf("the spec does not ask for an approval of the %s", role)
	}
	if bad := b.artifacts(s); len(bad) > 0 {
		return fmt.Errorf("the files are not those of the spec: %s", bad[0].Detail)
	}
	if _, err := b.root.Lstat(SignatureFile(role)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the %s has signed revision %d already: to change anything, make revision %d and sign that", role, s.Revision, s.Revision+1)
	}
	if role == Vendor && roles[Customer] {
		return b.customerSigned()
	}
	return nil
}

// customerSigned checks that the customer's signature is there and reads as
// one; whether it holds is for Verify, which knows the allowed signers.
func (b *Bundle) customerSigned() error {
	armored, err := b.read(SignatureFile(Customer), maxSig)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the customer signs first: send the bundle to the customer, and sign what comes back")
	}
	if err != nil {
		return err
	}
	info, err := sign.Inspect(armored)
	if err != nil {
		return fmt.Errorf("the customer's signature: %w", err)
	}
	if info.Namespace != CustomerNamespace {
		return fmt.Errorf("the customer's signature was made for another purpose than %s", CustomerNamespace)
	}
	return nil
}

// store writes a new file under its name in one step.
func (b *Bundle) store(name string, data []byte) error {
	if err := b.root.Mkdir(SignDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	tmp := name + ".tmp"
	f, err := b.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer b.root.Remove(tmp)
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// A link fails where the name exists; a rename would replace it.
	if err := b.root.Link(tmp, name); errors.Is(err, fs.ErrExist) || err == nil {
		return err
	}
	if _, err := b.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already", name)
	}
	return b.root.Rename(tmp, name)
}

// repack writes a packed bundle again after its directory changed.
func (b *Bundle) repack() error {
	if b.packed == "" {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(b.packed), ".bundle-*.tar.zst")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = Pack(b.dir, f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), b.packed)
}
