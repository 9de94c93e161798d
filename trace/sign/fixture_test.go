package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	mrand "math/rand/v2"
	"strings"
	"testing"
	"time"
)

const (
	customer = "customer-approval.v1@reprise"
	vendor   = "vendor-acceptance.v1@reprise"
	alice    = "alice@customer.example"
)

func noon() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// soft is a key held in the test: what an agent or a token would do.
type soft struct {
	kind string
	blob []byte
	sign func(data []byte) []byte // the whole signature field
}

// line is the key as it stands in a .pub file.
func (s soft) line() string { return s.kind + " " + base64.StdEncoding.EncodeToString(s.blob) }

// envelope is the SSHSIG blob, put together field by field.
func (s soft) envelope(ns, hash string, message []byte) []byte {
	e := envelope{namespace: ns, hash: hash}
	b := binary.BigEndian.AppendUint32([]byte(magic), version)
	b = appendString(b, s.blob)
	b = appendString(b, ns)
	b = appendString(b, "")
	b = appendString(b, hash)
	return appendString(b, s.sign(e.signed(message)))
}

func (s soft) armored(ns string, message []byte) []byte {
	return armor(s.envelope(ns, "sha512", message), 70)
}

func armor(blob []byte, width int) []byte {
	text := base64.StdEncoding.EncodeToString(blob)
	var b strings.Builder
	b.WriteString(armorBegin + "\n")
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	b.WriteString(text + "\n" + armorEnd + "\n")
	return []byte(b.String())
}

func field(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = appendString(b, p)
	}
	return b
}

// mpint is x in the shortest form of RFC 4251.
func mpint(x *big.Int) []byte {
	b := x.Bytes()
	if len(b) > 0 && b[0]&0x80 != 0 {
		b = append([]byte{0}, b...)
	}
	return b
}

// seeded is an ed25519 key that is the same in every run.
func seeded(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func softEd25519(n byte) soft {
	k := seeded(n)
	return soft{typeEd25519, field([]byte(typeEd25519), k.Public().(ed25519.PublicKey)), func(data []byte) []byte {
		return field([]byte(typeEd25519), ed25519.Sign(k, data))
	}}
}

func softECDSA(t testing.TB, curve elliptic.Curve) soft {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := map[int]string{256: "nistp256", 384: "nistp384", 521: "nistp521"}[curve.Params().BitSize]
	kind := "ecdsa-sha2-" + name
	return soft{kind, field([]byte(kind), []byte(name), point(t, k)), func(data []byte) []byte {
		return field([]byte(kind), ecdsaRaw(t, k, data))
	}}
}

func point(t testing.TB, k *ecdsa.PrivateKey) []byte {
	t.Helper()
	b, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ecdsaRaw(t testing.TB, k *ecdsa.PrivateKey, data []byte) []byte {
	t.Helper()
	h := sha256.Sum256(data)
	d := h[:]
	switch k.Params().BitSize {
	case 384:
		h := sha512.Sum384(data)
		d = h[:]
	case 521:
		h := sha512.Sum512(data)
		d = h[:]
	}
	r, s, err := ecdsa.Sign(rand.Reader, k, d)
	if err != nil {
		t.Fatal(err)
	}
	return field(mpint(r), mpint(s))
}

// softRSA signs with alg: rsa-sha2-512, rsa-sha2-256, or ssh-rsa with SHA-1.
func softRSA(t testing.TB, k *rsa.PrivateKey, alg string) soft {
	t.Helper()
	blob := field([]byte(typeRSA), mpint(big.NewInt(int64(k.E))), mpint(k.N))
	return soft{typeRSA, blob, func(data []byte) []byte {
		var h []byte
		hash := map[string]crypto.Hash{"rsa-sha2-512": crypto.SHA512, "rsa-sha2-256": crypto.SHA256, typeRSA: crypto.SHA1}[alg]
		switch hash {
		case crypto.SHA512:
			d := sha512.Sum512(data)
			h = d[:]
		case crypto.SHA256:
			d := sha256.Sum256(data)
			h = d[:]
		case crypto.SHA1:
			d := sha1.Sum(data)
			h = d[:]
		}
		s, err := rsa.SignPKCS1v15(rand.Reader, k, hash, h)
		if err != nil {
			t.Fatal(err)
		}
		return field([]byte(alg), s)
	}}
}

// softSK is a FIDO token in software, with its flags (1: touched).
func softSK(t testing.TB, kind string, flags byte) soft {
	t.Helper()
	app := []byte("ssh:")
	var pub []byte
	var raw func(data []byte) []byte
	if kind == typeSKEd25519 {
		k := seeded(77)
		pub = field([]byte(kind), k.Public().(ed25519.PublicKey), app)
		raw = func(data []byte) []byte { return ed25519.Sign(k, data) }
	} else {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		pub = field([]byte(kind), []byte("nistp256"), point(t, k), app)
		raw = func(data []byte) []byte { return ecdsaRaw(t, k, data) }
	}
	return soft{kind, pub, func(data []byte) []byte {
		a, m := sha256.Sum256(app), sha256.Sum256(data)
		tail := binary.BigEndian.AppendUint32([]byte{flags}, 9)
		covered := append(append(a[:], tail...), m[:]...)
		return append(field([]byte(kind), raw(covered)), tail...)
	}}
}

func parseSigners(t testing.TB, text string) *AllowedSigners {
	t.Helper()
	a, err := ParseAllowedSigners([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func seededRand() *mrand.Rand { return mrand.New(mrand.NewPCG(1, 2)) }

// oneLine fails if err could not be printed as one line.
func oneLine(t testing.TB, err error) {
	t.Helper()
	if err == nil || strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("not a one-line error: %v", err)
	}
}
