package sign

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/big"
	"strings"
	"testing"
)

// Flipping any one bit of the message or of the blob, whatever the field,
// makes Verify refuse, with one of its own errors.
func TestAnyFlipRefused(t *testing.T) {
	message := []byte("{\n  \"kind\": \"spec\"\n}\n")
	for name, key := range map[string]soft{
		"ed25519": softEd25519(1), "p256": softECDSA(t, elliptic.P256()), "p384": softECDSA(t, elliptic.P384()),
		"p521":       softECDSA(t, elliptic.P521()),
		"sk-ed25519": softSK(t, typeSKEd25519, 1), "sk-p256": softSK(t, typeSKP256, 1),
	} {
		a := parseSigners(t, alice+" "+key.line())
		blob := key.envelope(customer, "sha512", message)
		refused := func(what string, i int, message, sig []byte) {
			_, err := Verify(message, sig, a, alice, customer, noon())
			if err == nil || !typed(err) {
				t.Errorf("%s: %s flipped at %d: %v", name, what, i, err)
			}
		}
		if _, err := Verify(message, armor(blob, 70), a, alice, customer, noon()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range 8 * len(message) {
			refused("message", i, flipBit(message, i), armor(blob, 70))
		}
		slow := name == "p384" || name == "p521" // then one bit of each byte
		for i := range 8 * len(blob) {
			if !slow || i%8 == i/8%8 {
				refused("blob", i, message, armor(flipBit(blob, i), 70))
			}
		}
	}
}

// The armor has no slack either: every byte counts, also with another width.
func TestAnyArmorChangeRefused(t *testing.T) {
	key, message := softEd25519(1), []byte("m")
	a := parseSigners(t, alice+" "+key.line())
	sig := key.armored(customer, message)
	for i := range sig {
		for _, c := range []byte("A=\n -\r\x00\xff") {
			changed := bytes.Clone(sig)
			changed[i] = c
			if c == sig[i] {
				continue
			}
			if _, err := Verify(message, changed, a, alice, customer, noon()); err == nil || !typed(err) {
				t.Errorf("byte %d as %q: %v", i, c, err)
			}
		}
		if i < len(sig)-1 {
			if _, err := Verify(message, sig[:i], a, alice, customer, noon()); !errors.Is(err, ErrMalformed) {
				t.Errorf("cut at %d: %v", i, err)
			}
		}
	}
	if _, err := Verify(message, sig[:len(sig)-1], a, alice, customer, noon()); err != nil {
		t.Errorf("the last newline may be missing: %v", err)
	}
}

func flipBit(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i/8] ^= 1 << (i % 8)
	return b
}

// typed says whether err is one that a caller can branch on.
func typed(err error) bool {
	n := 0
	for _, e := range []error{ErrBadSignature, ErrUnknownSigner, ErrNamespace, ErrExpired, ErrMalformed} {
		if errors.Is(err, e) {
			n++
		}
	}
	return n == 1
}

func TestArmorForms(t *testing.T) {
	sig := string(softEd25519(1).armored(customer, []byte("m")))
	body := strings.TrimSuffix(strings.TrimPrefix(sig, armorBegin+"\n"), armorEnd+"\n")
	for name, s := range map[string]string{
		"empty": "", "text before": "x\n" + sig, "blank before": "\n" + sig, "text after": sig + "x", "blank after": sig + "\n",
		"spaces": strings.Replace(sig, "\n", " \n", 2), "no body": armorBegin + "\n" + armorEnd + "\n",
		"empty body": armorBegin + "\n\n" + armorEnd + "\n", "blank line": armorBegin + "\n\n" + body + armorEnd + "\n",
		"uneven":       armorBegin + "\n" + body[:5] + "\n" + body[5:] + armorEnd + "\n",
		"block inside": armorBegin + "\n" + sig + body + armorEnd + "\n", "PEM": strings.ReplaceAll(sig, "SSH SIGNATURE", "PGP SIGNATURE"),
		"long": armorBegin + "\n" + strings.Repeat("A", maxArmor) + "\n" + armorEnd + "\n",
	} {
		if _, err := Inspect([]byte(s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		} else {
			oneLine(t, err)
		}
	}
	loose := armor(append([]byte(magic), 0), 70) // 7 bytes: the last digit has spare bits
	loose = bytes.Replace(loose, []byte("AA=="), []byte("AB=="), 1)
	if _, err := dearmor(loose); !errors.Is(err, ErrMalformed) {
		t.Errorf("base64 with spare bits set: %v", err)
	}
}

// rebuilt is a well-signed envelope whose parts a test may bend.
type rebuilt struct {
	magic              string
	version            uint32
	key                []byte
	ns, reserved, hash string
	sig, trailing      []byte
}

func TestEnvelopeForms(t *testing.T) {
	key, message := softEd25519(1), []byte("m")
	a := parseSigners(t, alice+" "+key.line())
	for name, c := range map[string]struct {
		bend func(*rebuilt)
		want error
	}{
		"as it should be":     {func(*rebuilt) {}, nil},
		"magic":               {func(r *rebuilt) { r.magic = "SSHSIH" }, ErrMalformed},
		"version 0":           {func(r *rebuilt) { r.version = 0 }, ErrMalformed},
		"version 2":           {func(r *rebuilt) { r.version = 2 }, ErrMalformed},
		"reserved":            {func(r *rebuilt) { r.reserved = "x" }, ErrMalformed},
		"empty namespace":     {func(r *rebuilt) { r.ns = "" }, ErrNamespace},
		"namespace and NUL":   {func(r *rebuilt) { r.ns += "\x00" }, ErrMalformed},
		"namespace escapes":   {func(r *rebuilt) { r.ns = "\x1b[2J" }, ErrMalformed},
		"namespace not UTF-8": {func(r *rebuilt) { r.ns = "\xff" }, ErrMalformed},
		"namespace case":      {func(r *rebuilt) { r.ns = strings.ToUpper(r.ns) }, ErrNamespace},
		"namespace prefix":    {func(r *rebuilt) { r.ns = r.ns[:5] }, ErrNamespace},
		"md5":                 {func(r *rebuilt) { r.hash = "md5" }, ErrMalformed},
		"sha384":              {func(r *rebuilt) { r.hash = "sha384" }, ErrMalformed},
		"SHA512":              {func(r *rebuilt) { r.hash = "SHA512" }, ErrMalformed},
		"trailing":            {func(r *rebuilt) { r.trailing = []byte{0} }, ErrMalformed},
		"trailing in the key": {func(r *rebuilt) { r.key = append(bytes.Clone(r.key), 0) }, ErrMalformed},
		"trailing in the sig": {func(r *rebuilt) { r.sig = append(bytes.Clone(r.sig), 0) }, ErrMalformed},
		"empty sig":           {func(r *rebuilt) { r.sig = nil }, ErrMalformed},
		"empty key":           {func(r *rebuilt) { r.key = nil }, ErrMalformed},
		"other algorithm":     {func(r *rebuilt) { r.sig = field([]byte(typeRSA), make([]byte, 64)) }, ErrMalformed},
		"short sig":           {func(r *rebuilt) { r.sig = field([]byte(typeEd25519), make([]byte, 63)) }, ErrMalformed},
		"zero sig":            {func(r *rebuilt) { r.sig = field([]byte(typeEd25519), make([]byte, 64)) }, ErrBadSignature},
		"dsa":                 {func(r *rebuilt) { r.key = field([]byte("ssh-dss"), []byte{1}) }, ErrBadSignature},
		"key type escapes":    {func(r *rebuilt) { r.key = field([]byte("\x1b[2J")) }, ErrMalformed},
	} {
		r := rebuilt{magic: magic, version: 1, key: key.blob, ns: customer, hash: "sha512"}
		r.sig = key.sign((&envelope{namespace: customer, hash: "sha512"}).signed(message))
		c.bend(&r)
		b := binary.BigEndian.AppendUint32([]byte(r.magic), r.version)
		b = append(b, field(r.key, []byte(r.ns), []byte(r.reserved), []byte(r.hash), r.sig)...)
		_, err := Verify(message, armor(append(b, r.trailing...), 70), a, alice, customer, noon())
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// An ed25519 signature has one form: s plus the group's order, which a lax
// verifier takes, is refused (RFC 8032 section 5.1.7).
func TestEd25519Malleability(t *testing.T) {
	key := softEd25519(1)
	order, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	order.Add(order, new(big.Int).Lsh(big.NewInt(1), 252))
	plain := key.sign
	key.sign = func(data []byte) []byte {
		sig := plain(data)
		s := sig[len(sig)-32:]
		n := new(big.Int).SetBytes(reversed(s))
		copy(s, reversed(n.Add(n, order).FillBytes(make([]byte, 32))))
		return sig
	}
	_, err := Verify([]byte("m"), key.armored(customer, []byte("m")), parseSigners(t, alice+" "+key.line()), alice, customer, noon())
	if !errors.Is(err, ErrBadSignature) {
		t.Errorf("got %v", err)
	}
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[len(b)-1-i] = c
	}
	return out
}

// A token's signature cut short or run on, in whatever part, is refused.
func TestTokenForms(t *testing.T) {
	good := softSK(t, typeSKEd25519, 1)
	a := parseSigners(t, alice+" "+good.line())
	for name, bend := range map[string]func(sig []byte) []byte{
		"no counter":  func(sig []byte) []byte { return sig[:len(sig)-4] },
		"no flags":    func(sig []byte) []byte { return sig[:len(sig)-5] },
		"trailing":    func(sig []byte) []byte { return append(sig, 0) },
		"short":       func(sig []byte) []byte { return field([]byte(typeSKEd25519), make([]byte, 63)) },
		"inner short": func(sig []byte) []byte { return append(field([]byte(typeSKEd25519), make([]byte, 63)), 1, 0, 0, 0, 1) },
		"plain kind": func(sig []byte) []byte {
			return append(field([]byte(typeEd25519)), sig[4+len(typeSKEd25519):]...)
		},
	} {
		key := good
		key.sign = func(data []byte) []byte { return bend(good.sign(data)) }
		_, err := Verify([]byte("m"), key.armored(customer, []byte("m")), a, alice, customer, noon())
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ECDSA numbers in any but the shortest form, zero, or past the order: refused.
func TestECDSANumbers(t *testing.T) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	blob := field([]byte(typeP256), []byte("nistp256"), point(t, k))
	n := elliptic.P256().Params().N
	for name, bend := range map[string]func(r, s []byte) []byte{
		"padded":   func(r, s []byte) []byte { return field(append([]byte{0, 0}, r...), s) },
		"negative": func(r, s []byte) []byte { return field([]byte{0x80}, s) },
		"zero":     func(r, s []byte) []byte { return field([]byte{}, s) },
		"r plus n": func(r, s []byte) []byte { return field(mpint(new(big.Int).Add(new(big.Int).SetBytes(r), n)), s) },
		"trailing": func(r, s []byte) []byte { return append(field(r, s), 0) },
		"one only": func(r, s []byte) []byte { return field(r) },
	} {
		key := soft{typeP256, blob, func(data []byte) []byte {
			w := wire{b: ecdsaRaw(t, k, data)}
			return field([]byte(typeP256), bend(w.str(), w.str()))
		}}
		_, err := Verify([]byte("m"), key.armored(customer, []byte("m")), parseSigners(t, alice+" "+key.line()), alice, customer, noon())
		if err == nil || !typed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Damaged keys, those off their curve or with an unsafe exponent may not stand
// in a list.
func TestKeys(t *testing.T) {
	n := new(big.Int).SetBytes(bytes.Repeat([]byte{0x81}, 256))
	p256 := softECDSA(t, elliptic.P256())
	off := bytes.Clone(p256.blob)
	off[len(off)-1] ^= 1
	for name, blob := range map[string][]byte{
		"ed25519 short":   field([]byte(typeEd25519), make([]byte, 31)),
		"ed25519 long":    append(softEd25519(1).blob, 0),
		"off the curve":   off,
		"other curve":     field([]byte(typeP384), []byte("nistp256"), p256.blob[len(p256.blob)-65:]),
		"compressed":      field([]byte(typeP256), []byte("nistp256"), elliptic.MarshalCompressed(elliptic.P256(), elliptic.P256().Params().Gx, elliptic.P256().Params().Gy)),
		"rsa even":        field([]byte(typeRSA), []byte{3}, mpint(new(big.Int).Lsh(big.NewInt(1), 2048))),
		"rsa exponent 1":  field([]byte(typeRSA), []byte{1}, mpint(n)),
		"rsa exponent 2":  field([]byte(typeRSA), []byte{2}, mpint(n)),
		"rsa exponent 64": field([]byte(typeRSA), bytes.Repeat([]byte{1}, 8), mpint(n)),
		"rsa padded":      field([]byte(typeRSA), []byte{3}, append([]byte{0, 0}, mpint(n)...)),
		"rsa negative":    field([]byte(typeRSA), []byte{3}, n.Bytes()),
		"rsa huge":        field([]byte(typeRSA), []byte{3}, append([]byte{1}, bytes.Repeat([]byte{1}, maxRSA/8)...)),
		"sk without app":  field([]byte(typeSKEd25519), make([]byte, 32)),
	} {
		w := wire{b: blob}
		line := alice + " " + string(w.str()) + " " + base64.StdEncoding.EncodeToString(blob)
		if _, err := ParseAllowedSigners([]byte(line)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// matchPattern against the definition of a pattern, written as a recursion.
func TestMatchPatternAgainstDefinition(t *testing.T) {
	r := seededRand()
	hits := 0
	for range 50_000 {
		p := randomText(r.IntN(7), func() byte { return "ab*?"[r.IntN(4)] })
		s := randomText(r.IntN(7), func() byte { return "ab"[r.IntN(2)] })
		want := defined(p, s)
		if got := matchPattern(p, s); got != want {
			t.Fatalf("pattern %q, text %q: %v", p, s, got)
		}
		if want {
			hits++
		}
	}
	if hits < 1000 {
		t.Errorf("only %d matches among the cases", hits)
	}
}

func randomText(n int, next func() byte) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = next()
	}
	return string(b)
}

func defined(p, s string) bool {
	if p == "" {
		return s == ""
	}
	if p[0] == '*' {
		return defined(p[1:], s) || (s != "" && defined(p, s[1:]))
	}
	return s != "" && (p[0] == '?' || p[0] == s[0]) && defined(p[1:], s[1:])
}
