package sign

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The files in testdata were made once by ssh-keygen of OpenSSH 9.2p1
// (`ssh-keygen -Y sign -n customer-approval.v1@reprise -f KEY < message.json`)
// with keys thrown away since. They must verify, or be refused, for ever.
func TestVectors(t *testing.T) {
	message, signers := vectors(t)
	for _, c := range []struct {
		name, keyType string
		want          error
		say           string
	}{
		{"ed25519-256", typeEd25519, nil, ""},
		{"ecdsa-256", typeP256, nil, ""},
		{"ecdsa-384", typeP384, nil, ""},
		{"ecdsa-521", typeP521, nil, ""},
		{"rsa-3072", typeRSA, nil, ""},
		{"rsa-1024", typeRSA, ErrBadSignature, "1024 bits"},
		{"certificate", "ecdsa-sha2-nistp256-cert-v01@openssh.com", ErrBadSignature, "certificate"},
		{"vendor", typeEd25519, ErrNamespace, `made for "vendor-acceptance.v1@reprise"`},
	} {
		sig := read(t, filepath.Join("testdata", c.name+".sig"))
		info, err := Inspect(sig)
		if err != nil || info.KeyType != c.keyType || info.Hash != "sha512" {
			t.Errorf("%s: %+v, %v", c.name, info, err)
		}
		s, err := Verify(message, sig, signers, c.name+"@customer.example", customer, noon())
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err == nil && (s.KeyType != c.keyType || s.Fingerprint != info.Fingerprint) {
			t.Errorf("%s: %+v", c.name, s)
		}
		if err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: want %q in %v", c.name, c.say, err)
		}
	}
}

func vectors(t *testing.T) (message []byte, signers *AllowedSigners) {
	t.Helper()
	return read(t, filepath.Join("testdata", "message.json")),
		parseSigners(t, string(read(t, filepath.Join("testdata", "allowed_signers"))))
}

// The fingerprint is the one that `ssh-keygen -l` prints.
func TestFingerprintAsStock(t *testing.T) {
	needKeygen(t)
	_, signers := vectors(t)
	for _, e := range signers.entries {
		pub := write(t, filepath.Join(t.TempDir(), "pub"), []byte(soft{kind: e.keyType, blob: e.key}.line()+"\n"))
		if out := run(t, "ssh-keygen", "-l", "-f", pub); !strings.Contains(out, " "+fingerprint(e.key)+" ") {
			t.Errorf("line %d: %s, ssh-keygen: %s", e.line, fingerprint(e.key), out)
		}
	}
}

// What we refuse among them holds for ssh-keygen: it is refused for its kind,
// not because it is broken.
func TestVectorsAsStock(t *testing.T) {
	needKeygen(t)
	message, _ := vectors(t)
	signers := string(read(t, filepath.Join("testdata", "allowed_signers")))
	for _, name := range []string{"ed25519-256", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-3072", "rsa-1024"} {
		sig := read(t, filepath.Join("testdata", name+".sig"))
		if err := stockVerify(t, message, sig, signers, name+"@customer.example", customer, noon()); err != nil {
			t.Errorf("%s: ssh-keygen %v", name, err)
		}
	}
}

// As TestAnyFlipRefused, for RSA.
func TestAnyFlipOfRSARefused(t *testing.T) {
	message, signers := vectors(t)
	sig := read(t, filepath.Join("testdata", "rsa-3072.sig"))
	blob, err := dearmor(sig)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, i int, message, sig []byte) {
		if _, err := Verify(message, sig, signers, "rsa-3072@customer.example", customer, noon()); err == nil || !typed(err) {
			t.Errorf("%s flipped at %d: %v", what, i, err)
		}
	}
	for i := range 8 * len(message) {
		refused("message", i, flipBit(message, i), sig)
	}
	for i := range 8 * len(blob) {
		if i%8 == i/8%8 || i < 8*64 { // one bit of each byte, all of the head
			refused("blob", i, message, armor(flipBit(blob, i), 70))
		}
	}
}
