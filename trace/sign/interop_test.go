package sign

import (
	"bytes"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Sign through the real ssh-keygen, for each kind of key: our Verify and
// ssh-keygen -Y verify accept it, and both refuse the same changes.
func TestInterop(t *testing.T) {
	needKeygen(t)
	message := []byte("{\n  \"kind\": \"spec\"\n}\n")
	for _, args := range [][]string{
		{"-t", "ed25519"}, {"-t", "ecdsa", "-b", "256"}, {"-t", "ecdsa", "-b", "384"},
		{"-t", "ecdsa", "-b", "521"}, {"-t", "rsa", "-b", "3072", "-m", "PEM"},
	} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			path, pub := newKey(t, args...)
			var said bytes.Buffer
			sig, err := Sign(t.Context(), path, customer, message, Prompt{Stderr: &said})
			if err != nil {
				t.Fatal(err)
			}
			checkBoth(t, message, sig, pub)
			if strings.HasPrefix(pub, typeRSA) {
				checkRSA(t, path)
			}
		})
	}
}

func checkBoth(t *testing.T, message, sig []byte, pub string) {
	t.Helper()
	mine := fmt.Sprintf("%s namespaces=%q %s\n", alice, customer, pub)
	vendors := fmt.Sprintf("%s namespaces=%q %s\n", alice, vendor, pub)
	until := func(option, date string) string { return fmt.Sprintf("%s %s=%q %s\n", alice, option, date, pub) }
	two := append(bytes.Clone(sig), sig...)
	for _, c := range []struct {
		name                   string
		message, sig           []byte
		signers, principal, ns string
		want                   error
	}{
		{"good", message, sig, mine, alice, customer, nil},
		{"changed byte", bytes.Replace(message, []byte("spec"), []byte("spek"), 1), sig, mine, alice, customer, ErrBadSignature},
		{"one byte more", append(bytes.Clone(message), '\n'), sig, mine, alice, customer, ErrBadSignature},
		{"CRLF message", bytes.ReplaceAll(message, []byte("\n"), []byte("\r\n")), sig, mine, alice, customer, ErrBadSignature},
		{"CRLF signature", message, bytes.ReplaceAll(sig, []byte("\n"), []byte("\r\n")), mine, alice, customer, ErrMalformed},
		{"wrong namespace", message, sig, mine, alice, vendor, ErrNamespace},
		{"vendor's key", message, sig, vendors, alice, customer, ErrNamespace},
		{"other principal", message, sig, mine, "bob@customer.example", customer, ErrUnknownSigner},
		{"nobody listed", message, sig, "# nobody\n", alice, customer, ErrUnknownSigner},
		{"expired", message, sig, until("valid-before", "20260101Z"), alice, customer, ErrExpired},
		{"not yet valid", message, sig, until("valid-after", "20270101Z"), alice, customer, ErrExpired},
		{"as authority only", message, sig, alice + " cert-authority " + pub + "\n", alice, customer, ErrUnknownSigner},
		{"truncated", message, sig[:len(sig)-40], mine, alice, customer, ErrMalformed},
		{"line lost", message, cutLine(sig), mine, alice, customer, ErrMalformed},
		{"two blocks", message, two, mine, alice, customer, ErrMalformed},
	} {
		s, err := Verify(c.message, c.sig, parseSigners(t, c.signers), c.principal, c.ns, noon())
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if c.want != nil {
			oneLine(t, err)
		} else if s.Principal != alice || s.KeyType != strings.Fields(pub)[0] || !strings.HasPrefix(s.Fingerprint, "SHA256:") {
			t.Errorf("signer %+v", s)
		}
		stock := stockVerify(t, c.message, c.sig, c.signers, c.principal, c.ns, noon())
		if c.name == "two blocks" {
			continue // ssh-keygen reads the first and ignores what follows
		}
		if (stock == nil) != (c.want == nil) {
			t.Errorf("%s: ssh-keygen says %v, want %v", c.name, stock, c.want)
		}
	}
}

// cutLine drops the second line of the base64.
func cutLine(sig []byte) []byte {
	lines := bytes.SplitAfter(sig, []byte("\n"))
	return bytes.Join(append(lines[:2:2], lines[3:]...), nil)
}

// checkRSA signs with the same key in software, which gives the algorithms
// that ssh-keygen does not use for SSHSIG.
func checkRSA(t *testing.T, path string) {
	t.Helper()
	block, _ := pem.Decode(read(t, path))
	if block == nil {
		t.Fatal("ssh-keygen wrote no PEM")
	}
	k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, alg := range []string{"rsa-sha2-256", "rsa-sha2-512", typeRSA} {
		checkSoft(t, alg, softRSA(t, k, alg), alg == typeRSA, alg == typeRSA)
	}
	checkRSAForms(t, k)
}

// checkRSAForms: a signature with a byte of padding, or one without its
// leading zeros, is another encoding of the same number and refused.
func checkRSAForms(t *testing.T, k *rsa.PrivateKey) {
	t.Helper()
	s := softRSA(t, k, "rsa-sha2-512")
	plain := s.sign
	s.sign = func(data []byte) []byte {
		w := wire{b: plain(data)}
		alg, sig := w.str(), w.str()
		return field(alg, append([]byte{0}, sig...))
	}
	_, err := Verify([]byte("m"), s.armored(customer, []byte("m")), parseSigners(t, alice+" "+s.line()), alice, customer, noon())
	if !errors.Is(err, ErrBadSignature) {
		t.Errorf("padded RSA signature: %v", err)
	}
}

// checkSoft compares ours with ssh-keygen on a signature made in software.
func checkSoft(t *testing.T, name string, s soft, weRefuse, stockRefuses bool) {
	t.Helper()
	message := []byte("made in software")
	signers := alice + " " + s.line() + "\n"
	for _, hash := range []string{"sha256", "sha512"} {
		sig := armor(s.envelope(customer, hash, message), 70)
		_, err := Verify(message, sig, parseSigners(t, signers), alice, customer, noon())
		if (err != nil) != weRefuse || (weRefuse && !errors.Is(err, ErrBadSignature)) {
			t.Errorf("%s %s: ours says %v, should refuse: %v", name, hash, err, weRefuse)
		}
		if err := stockVerify(t, message, sig, signers, alice, customer, noon()); (err != nil) != stockRefuses {
			t.Errorf("%s %s: ssh-keygen says %v, should refuse: %v", name, hash, err, stockRefuses)
		}
	}
}

// Signatures made in software are good for ssh-keygen too, so the encodings
// that the other tests build on are OpenSSH's. It accepts hardware keys that
// were not touched; we do not.
func TestSoftware(t *testing.T) {
	needKeygen(t)
	checkSoft(t, "ed25519", softEd25519(1), false, false)
	for _, c := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		checkSoft(t, c.Params().Name, softECDSA(t, c), false, false)
	}
	for _, kind := range []string{typeSKEd25519, typeSKP256} {
		checkSoft(t, kind+" touched", softSK(t, kind, 1), false, false)
		checkSoft(t, kind+" touched, PIN", softSK(t, kind, 5), false, false)
		checkSoft(t, kind+" not touched", softSK(t, kind, 0), true, false)
		checkSoft(t, kind+" PIN only", softSK(t, kind, 4), true, false)
	}
}

// Our armor is byte for byte what ssh-keygen writes (ed25519 is
// deterministic), and other widths are read by both.
func TestArmorAsStock(t *testing.T) {
	needKeygen(t)
	path, pub := newKey(t, "-t", "ed25519")
	message := []byte("m")
	sig, err := Sign(t.Context(), path, customer, message, Prompt{})
	if err != nil {
		t.Fatal(err)
	}
	blob, err := dearmor(sig)
	if err != nil {
		t.Fatal(err)
	}
	if again := armor(blob, 70); !bytes.Equal(again, sig) {
		t.Errorf("armor differs from ssh-keygen's:\n%s\n%s", again, sig)
	}
	signers := alice + " " + pub
	for _, w := range []int{64, 76, 4096} {
		wide := armor(blob, w)
		if _, err := Verify(message, wide, parseSigners(t, signers), alice, customer, noon()); err != nil {
			t.Errorf("width %d: %v", w, err)
		}
		if err := stockVerify(t, message, wide, signers, alice, customer, noon()); err != nil {
			t.Errorf("width %d: ssh-keygen %v", w, err)
		}
	}
}

// A certificate signs well for ssh-keygen; we refuse it and say why.
func TestCertificate(t *testing.T) {
	needKeygen(t)
	ca, caPub := newKey(t, "-t", "ed25519")
	key, pub := newKey(t, "-t", "ed25519")
	run(t, "ssh-keygen", "-q", "-s", ca, "-I", "id", "-n", alice, key+".pub")
	message := []byte("m")
	sig, err := keygen(t.Context(), message, nil, "-Y", "sign", "-n", customer, "-f", key+"-cert.pub")
	if err != nil {
		t.Fatal(err)
	}
	info, err := Inspect(sig)
	if err != nil || info.KeyType != "ssh-ed25519-cert-v01@openssh.com" {
		t.Fatalf("the signature is not by a certificate: %+v, %v", info, err)
	}
	signers := "*@customer.example cert-authority " + caPub + "\n" + alice + " " + pub + "\n"
	if err := stockVerify(t, message, sig, signers, alice, customer, time.Now()); err != nil {
		t.Errorf("ssh-keygen should accept it: %v", err)
	}
	_, err = Verify(message, sig, parseSigners(t, signers), alice, customer, time.Now())
	if !errors.Is(err, ErrBadSignature) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	if _, err := Sign(t.Context(), key+"-cert.pub", customer, message, Prompt{}); !errors.Is(err, ErrBadSignature) {
		t.Errorf("Sign gave out what Verify refuses: %v", err)
	}
}
