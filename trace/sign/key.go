package sign

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"strings"
)

// Key types as they stand in a public key file.
const (
	typeEd25519   = "ssh-ed25519"
	typeRSA       = "ssh-rsa"
	typeP256      = "ecdsa-sha2-nistp256"
	typeP384      = "ecdsa-sha2-nistp384"
	typeP521      = "ecdsa-sha2-nistp521"
	typeSKEd25519 = "sk-ssh-ed25519@openssh.com"
	typeSKP256    = "sk-ecdsa-sha2-nistp256@openssh.com"
)

const (
	minRSA = 2048
	maxRSA = 16384 // the limit of OpenSSH; a check costs time by the square
)

// publicKey is a key that can check a signature: sig is what follows the
// algorithm's name in the signature, data is what was signed.
type publicKey interface {
	verify(alg string, sig, data []byte) error
}

type ed25519Key struct{ key ed25519.PublicKey }

type ecdsaKey struct {
	kind string
	key  *ecdsa.PublicKey
}

type rsaKey struct{ key *rsa.PublicKey }

// skKey is a key on a FIDO token. Its application is hashed into what it signs.
type skKey struct {
	kind        string
	inner       publicKey
	application []byte
}

// parseKey reads a public key blob to its last byte. The error is
// ErrMalformed, or ErrBadSignature for a type that is refused.
func parseKey(blob []byte) (publicKey, error) {
	w := wire{b: blob}
	kind := string(w.str())
	if w.bad {
		return nil, malformed("key without a type")
	}
	k, err := parseKind(kind, &w)
	if err != nil {
		return nil, err
	}
	if !w.done() || k == nil {
		return nil, malformed("damaged %s key", kind)
	}
	return k, nil
}

// parseKind reads the fields after the type. It returns nil for a key whose
// fields are not right.
func parseKind(kind string, w *wire) (publicKey, error) {
	switch kind {
	case typeEd25519:
		return parseEd25519(w), nil
	case typeRSA:
		return parseRSA(w), nil
	case typeP256, typeP384, typeP521:
		return parseECDSA(kind, w), nil
	case typeSKEd25519, typeSKP256:
		return parseSK(kind, w), nil
	}
	if strings.Contains(kind, "-cert-v0") {
		return nil, bad("made with a certificate; sign with the plain key and list that key")
	}
	return nil, bad("key type not supported; use an ed25519, ecdsa or rsa key")
}

// known says whether parseKey can read keys of this type.
func known(kind string) bool {
	switch kind {
	case typeEd25519, typeRSA, typeP256, typeP384, typeP521, typeSKEd25519, typeSKP256:
		return true
	}
	return false
}

func parseEd25519(w *wire) publicKey {
	k := w.str()
	if len(k) != ed25519.PublicKeySize {
		return nil
	}
	return ed25519Key{k}
}

func parseRSA(w *wire) publicKey {
	e, n := w.mpint(), w.mpint()
	// crypto/rsa holds the exponent as an int and refuses more than 31 bits.
	if w.bad || e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 || n.Bit(0) == 0 || n.BitLen() > maxRSA {
		return nil
	}
	return rsaKey{&rsa.PublicKey{N: n, E: int(e.Int64())}}
}

func parseECDSA(kind string, w *wire) publicKey {
	var curve elliptic.Curve
	switch name := string(w.str()); {
	case kind == typeP256 && name == "nistp256", kind == typeSKP256 && name == "nistp256":
		curve = elliptic.P256()
	case kind == typeP384 && name == "nistp384":
		curve = elliptic.P384()
	case kind == typeP521 && name == "nistp521":
		curve = elliptic.P521()
	default:
		return nil
	}
	k, err := ecdsa.ParseUncompressedPublicKey(curve, w.str())
	if err != nil {
		return nil
	}
	return ecdsaKey{kind, k}
}

func parseSK(kind string, w *wire) publicKey {
	var inner publicKey
	if kind == typeSKEd25519 {
		inner = parseEd25519(w)
	} else {
		inner = parseECDSA(kind, w)
	}
	application := w.str()
	if inner == nil || w.bad {
		return nil
	}
	return skKey{kind, inner, application}
}
