package bundle

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/trace/sign"
	"reprise/trace/spec"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// party is one side with its key.
type party struct{ role, principal, key string }

// parties makes a key for each side and the list that allows them.
func parties(t *testing.T) (customer, vendor party, signers *sign.AllowedSigners) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: nothing can be signed")
	}
	dir := t.TempDir()
	customer = party{Customer, "alice@customer.example", filepath.Join(dir, "alice")}
	vendor = party{Vendor, "bob@vendor.example", filepath.Join(dir, "bob")}
	var list strings.Builder
	for _, p := range []party{customer, vendor} {
		list.WriteString(p.allowed(t, ""))
	}
	return customer, vendor, parse(t, list.String())
}

// allowed makes the party's key on first use and returns its line of
// allowed_signers.
func (p party) allowed(t *testing.T, options string) string {
	t.Helper()
	if _, err := os.Stat(p.key); err != nil {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", p.role, "-f", p.key).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	pub, err := os.ReadFile(p.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := Namespace(p.role)
	if err != nil {
		t.Fatal(err)
	}
	return p.principal + ` namespaces="` + namespace + `"` + options + " " + string(pub)
}

func parse(t *testing.T, list string) *sign.AllowedSigners {
	t.Helper()
	signers, err := sign.ParseAllowedSigners([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	return signers
}

func signAs(t *testing.T, b *Bundle, parties ...party) {
	t.Helper()
	for _, p := range parties {
		if err := b.Sign(t.Context(), p.role, p.key, sign.Prompt{}); err != nil {
			t.Fatal(err)
		}
	}
}

func codes(r Report) []Code {
	var out []Code
	for _, x := range r.Reasons {
		if !slices.Contains(out, x.Code) {
			out = append(out, x.Code)
		}
	}
	return out
}

func TestVerifySigned(t *testing.T) {
	customer, vendor, signers := parties(t)
	for _, profile := range Profiles() {
		b := written(t, input(sampleTrace(1, 600), profile))
		if got := codes(b.Verify(signers, noon, nil)); !slices.Equal(got, []Code{MissingRole}) {
			t.Fatalf("unsigned: %v", got)
		}
		signAs(t, b, customer)
		if r := b.Verify(signers, noon, nil); r.OK || len(r.Signed) != 1 {
			t.Fatalf("half signed: %+v", r)
		}
		signAs(t, b, vendor)
		r := b.Verify(signers, noon, nil)
		if !r.OK || len(r.Signed) != 2 || r.Signed[0].Principal != customer.principal {
			t.Fatalf("signed: %+v", r)
		}
		var text, js bytes.Buffer
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "verified: revision 1") {
			t.Errorf("text %q, error %v", text.String(), err)
		}
		if err := json.NewEncoder(&js).Encode(r); err != nil || !strings.Contains(js.String(), `"ok":true`) || !strings.Contains(js.String(), `"reasons":[]`) {
			t.Errorf("json %s", js.String())
		}
	}
}

// Every file, at its ends and at places between, and the right code for each.
func TestEveryChangedByteIsSeen(t *testing.T) {
	customer, vendor, signers := parties(t)
	b := written(t, input(sampleTrace(1, 80), "exact"))
	signAs(t, b, customer, vendor)
	for name, data := range filesOf(t, b.Dir()) {
		var want []Code
		switch name {
		case ReadmeFile:
			continue // not signed for, and says so
		case SpecFile:
			want = []Code{BadSpec, BadSignature, ArtifactMismatch, MissingRole, UnknownSigner}
		case SignatureFile(Customer), SignatureFile(Vendor):
			want = []Code{BadSignature, UnknownSigner}
		default:
			want = []Code{ArtifactMismatch}
		}
		path := filepath.Join(b.Dir(), name)
		for i := 0; i < len(data); i += max(1, len(data)/17) {
			for _, change := range []byte{1, 0x20, 0x80} {
				spoiled := []byte(data)
				spoiled[i] ^= change
				overwrite(t, path, spoiled)
				r := b.Verify(signers, noon, nil)
				if r.OK || len(r.Reasons) == 0 {
					t.Fatalf("%s: byte %d xor %#x is not seen", name, i, change)
				}
				for _, c := range codes(r) {
					if !slices.Contains(want, c) {
						t.Errorf("%s: byte %d xor %#x: code %s", name, i, change, c)
					}
				}
			}
		}
		for _, spoiled := range []string{data + "\n", data[:len(data)-2], "", strings.Replace(data, "\n", "\r\n", 1)} {
			overwrite(t, path, []byte(spoiled))
			if b.Verify(signers, noon, nil).OK && spoiled != data {
				t.Errorf("%s: %d bytes in place of %d are not seen", name, len(spoiled), len(data))
			}
		}
		overwrite(t, path, []byte(data))
	}
	if r := b.Verify(signers, noon, nil); !r.OK {
		t.Fatalf("restored: %+v", r)
	}
}

func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestArtifactMismatch(t *testing.T) {
	customer, vendor, signers := parties(t)
	for name, spoil := range map[string]func(dir string) error{
		"missing":     func(dir string) error { return os.Remove(filepath.Join(dir, AuditFile)) },
		"extra file":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.sh"), nil, 0o755) },
		"extra sig":   func(dir string) error { return os.WriteFile(filepath.Join(dir, SignDir, "x.sig"), nil, 0o644) },
		"extra dir":   func(dir string) error { return os.Mkdir(filepath.Join(dir, "more"), 0o755) },
		"prompts":     func(dir string) error { return os.WriteFile(filepath.Join(dir, PromptsFile), []byte("x"), 0o644) },
		"link inside": func(dir string) error { return os.Symlink(AuditFile, filepath.Join(dir, "a.json")) },
		"link for a file": func(dir string) error {
			moved := filepath.Join(filepath.Dir(dir), "moved")
			if err := os.Rename(filepath.Join(dir, ReviewFile), moved); err != nil {
				return err
			}
			return os.Symlink(moved, filepath.Join(dir, ReviewFile))
		},
		"link for README": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, ReadmeFile)); err != nil {
				return err
			}
			return os.Symlink("/etc/hostname", filepath.Join(dir, ReadmeFile))
		},
	} {
		b := written(t, input(sampleTrace(1, 60), "exact"))
		signAs(t, b, customer, vendor)
		if err := spoil(b.Dir()); err != nil {
			t.Fatal(err)
		}
		if got := codes(b.Verify(signers, noon, nil)); !slices.Equal(got, []Code{ArtifactMismatch}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// resigned replaces the spec by a changed one and signs it with what is given.
func resigned(t *testing.T, b *Bundle, change func(*spec.Spec), parties ...party) {
	t.Helper()
	s, _, err := b.load()
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	raw, err := spec.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(b.Dir(), SpecFile), raw)
	for _, p := range parties {
		namespace, _ := Namespace(p.role)
		armored, err := sign.Sign(t.Context(), p.key, namespace, raw, sign.Prompt{})
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, filepath.Join(b.Dir(), SignatureFile(p.role)), armored)
	}
}

func TestReasons(t *testing.T) {
	customer, vendor, signers := parties(t)
	fresh := func() *Bundle { return written(t, input(sampleTrace(1, 60), "exact")) }
	check := func(name string, b *Bundle, signers *sign.AllowedSigners, newer *spec.Spec, want ...Code) {
		t.Helper()
		if got := codes(b.Verify(signers, noon, newer)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	same := func(*spec.Spec) {}
	b := fresh()
	signAs(t, b, customer, vendor)
	check("no list", b, nil, nil, UnknownSigner)
	check("empty list", b, parse(t, ""), nil, UnknownSigner)
	check("expired", b, parse(t, customer.allowed(t, `,valid-before="20260101"`)+vendor.allowed(t, "")), nil, Expired)
	check("not yet", b, parse(t, customer.allowed(t, "")+vendor.allowed(t, `,valid-after="20270101"`)), nil, Expired)

	sha := b.Verify(signers, noon, nil).SHA256
	next := func(revision int, sha string) *spec.Spec {
		return &spec.Spec{Revision: revision, Supersedes: &spec.Supersedes{Revision: revision - 1, SHA256: sha}}
	}
	check("superseded", b, signers, next(2, sha), Superseded)
	check("two on", b, signers, next(3, strings.Repeat("00", 32)), Superseded)
	check("of another spec", b, signers, next(2, strings.Repeat("00", 32)))

	b = fresh()
	resigned(t, b, func(s *spec.Spec) { s.Status = spec.Withdrawn }, customer, vendor)
	check("withdrawn", b, signers, nil, WithdrawnCode)
	b = fresh()
	resigned(t, b, func(s *spec.Spec) { s.Status = spec.Draft }, customer, vendor)
	check("draft", b, signers, nil, BadSpec)
	b = fresh()
	resigned(t, b, func(s *spec.Spec) { s.Approvals = s.Approvals[1:] }, vendor)
	check("customer not asked", b, signers, nil, MissingRole)
	b = fresh()
	resigned(t, b, func(s *spec.Spec) { s.Approvals = nil })
	check("nobody asked", b, signers, nil, MissingRole)
	b = fresh()
	resigned(t, b, same, customer)
	check("vendor missing", b, signers, nil, MissingRole)

	// The customer's signature in the vendor's place, and the vendor's key in
	// the customer's namespace.
	b = fresh()
	resigned(t, b, same, customer)
	armored, _ := os.ReadFile(filepath.Join(b.Dir(), SignatureFile(Customer)))
	overwrite(t, filepath.Join(b.Dir(), SignatureFile(Vendor)), armored)
	check("copied", b, signers, nil, BadSignature)
	b = fresh()
	resigned(t, b, same, party{Customer, customer.principal, vendor.key}, vendor)
	check("wrong key", b, signers, nil, UnknownSigner)
	// A principal other than the one that the spec names.
	b = fresh()
	resigned(t, b, func(s *spec.Spec) { s.Approvals[0].Principal = "carol@customer.example" }, customer, vendor)
	check("other principal", b, signers, nil, UnknownSigner)
}

func TestSpecOfAnotherFormat(t *testing.T) {
	b := written(t, input(sampleTrace(1, 60), "exact"))
	overwrite(t, filepath.Join(b.Dir(), SpecFile), []byte("{}\n"))
	again, err := Open(b.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := codes(again.Verify(nil, noon, nil)); !slices.Equal(got, []Code{BadSpec}) || again.Spec == nil {
		t.Errorf("%v", got)
	}
}

// ssh-keygen accepts what we sign, and we accept what it signs.
func TestStockSSHKeygen(t *testing.T) {
	customer, vendor, signers := parties(t)
	b := written(t, input(sampleTrace(1, 60), "exact"))
	signAs(t, b, customer)
	cmd := exec.Command("ssh-keygen", "-Y", "sign", "-n", VendorNamespace, "-f", vendor.key)
	raw, err := os.ReadFile(filepath.Join(b.Dir(), SpecFile))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(raw)
	armored, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(b.Dir(), SignatureFile(Vendor)), armored)
	if r := b.Verify(signers, noon, nil); !r.OK {
		t.Errorf("%+v", r)
	}
	list := filepath.Join(t.TempDir(), "allowed_signers")
	overwrite(t, list, []byte(customer.allowed(t, "")+vendor.allowed(t, "")))
	for _, p := range []party{customer, vendor} {
		namespace, _ := Namespace(p.role)
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", list, "-I", p.principal, "-n", namespace, "-s", SignatureFile(p.role))
		cmd.Dir, cmd.Stdin = b.Dir(), bytes.NewReader(raw)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `Good "`+namespace+`"`) {
			t.Errorf("%s: %v: %s", p.role, err, out)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	customer, vendor, signers := parties(t)
	refuse := func(b *Bundle, p party, want string) {
		t.Helper()
		err := b.Sign(t.Context(), p.role, p.key, sign.Prompt{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	b := written(t, input(sampleTrace(1, 60), "exact"))
	refuse(b, vendor, "the customer signs first")
	refuse(b, party{"auditor", "x", customer.key}, "want customer or vendor")
	refuse(b, party{Customer, "x", filepath.Join(t.TempDir(), "none")}, "does not exist")
	signature := filepath.Join(b.Dir(), SignatureFile(Customer))
	overwrite(t, signature, []byte("signed, Alice\n"))
	refuse(b, vendor, "the customer's signature")
	refuse(b, customer, "make revision 2")
	if err := os.Remove(signature); err != nil {
		t.Fatal(err)
	}
	signAs(t, b, customer)
	refuse(b, customer, "make revision 2")
	signAs(t, b, vendor)
	if !b.Verify(signers, noon, nil).OK {
		t.Error("not verified in the end")
	}

	for want, change := range map[string]func(*spec.Spec){
		"region missing":    func(s *spec.Spec) { s.Question.Region = "" },
		"is not the one":    func(s *spec.Spec) { s.Question.Load.Value = 80 }, // under a sentence that says 5.5
		"the spec is draft": func(s *spec.Spec) { s.Status = spec.Draft },
		"not ask":           func(s *spec.Spec) { s.Approvals = s.Approvals[1:] },
	} {
		b := written(t, input(sampleTrace(1, 60), "exact"))
		resigned(t, b, change)
		refuse(b, customer, want)
	}
	b = written(t, input(sampleTrace(1, 60), "exact"))
	overwrite(t, filepath.Join(b.Dir(), AuditFile), []byte("{}\n"))
	refuse(b, customer, "audit.json has 3 bytes")
	// What was shown is what is signed, or nothing.
	b = written(t, input(sampleTrace(1, 60), "exact"))
	if sp, err := b.Ready(Customer); err != nil || sp.Question.Sentence == "" {
		t.Fatal(err)
	}
	resigned(t, b, func(s *spec.Spec) { s.Question.OutOfScope = []string{"nothing"} })
	refuse(b, customer, "not the one that was shown")
	if _, err := os.Stat(filepath.Join(b.Dir(), SignatureFile(Customer))); err == nil {
		t.Error("a refused signature was stored")
	}
}

// TestOneSigner: a key, or a person of two keys, does not sign for both sides.
func TestOneSigner(t *testing.T) {
	customer, vendor, _ := parties(t)
	twice := party{Vendor, vendor.principal, customer.key}
	in := input(sampleTrace(1, 60), "exact")
	b := written(t, in)
	signAs(t, b, customer, twice)
	r := b.Verify(parse(t, customer.allowed(t, "")+twice.allowed(t, "")), noon, nil)
	if r.OK || !slices.Equal(codes(r), []Code{OneSigner}) {
		t.Errorf("one key: %+v", r.Reasons)
	}
	same := party{Vendor, customer.principal, vendor.key}
	in.Spec.Approvals[1].Principal = customer.principal
	b = written(t, in)
	signAs(t, b, customer, same)
	r = b.Verify(parse(t, customer.allowed(t, "")+same.allowed(t, "")), noon, nil)
	if r.OK || !slices.Equal(codes(r), []Code{OneSigner}) {
		t.Errorf("one principal: %+v", r.Reasons)
	}
}
