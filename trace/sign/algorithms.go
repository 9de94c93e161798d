package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
)

// flagUserPresent is set by a FIDO token that was touched (PROTOCOL.u2f).
const flagUserPresent = 0x01

func (k ed25519Key) verify(alg string, sig, data []byte) error {
	if alg != typeEd25519 {
		return wrongAlgorithm()
	}
	w := wire{b: sig}
	s := w.str()
	if !w.done() || len(s) != ed25519.SignatureSize {
		return damaged()
	}
	return k.checkRaw(s, data)
}

func (k ed25519Key) checkRaw(s, data []byte) error {
	if len(s) != ed25519.SignatureSize {
		return damaged()
	}
	return holds(ed25519.Verify(k.key, data, s))
}

func (k ecdsaKey) verify(alg string, sig, data []byte) error {
	if alg != k.kind {
		return wrongAlgorithm()
	}
	w := wire{b: sig}
	s := w.str()
	if !w.done() {
		return damaged()
	}
	return k.checkRaw(s, data)
}

// checkRaw checks a signature of RFC 5656 section 3.1.2, whose hash follows
// from the curve (section 6.2.1).
func (k ecdsaKey) checkRaw(s, data []byte) error {
	w := wire{b: s}
	r, t := w.mpint(), w.mpint()
	if !w.done() {
		return damaged()
	}
	var h []byte
	switch bits := k.key.Curve.Params().BitSize; {
	case bits <= 256:
		d := sha256.Sum256(data)
		h = d[:]
	case bits <= 384:
		d := sha512.Sum384(data)
		h = d[:]
	default:
		d := sha512.Sum512(data)
		h = d[:]
	}
	return holds(ecdsa.Verify(k.key, h, r, t))
}

func (k rsaKey) verify(alg string, sig, data []byte) error {
	if n := k.key.N.BitLen(); n < minRSA {
		return bad("rsa key of %d bits, %d is the least allowed; sign with another key", n, minRSA)
	}
	w := wire{b: sig}
	s := w.str()
	if !w.done() {
		return damaged()
	}
	switch alg {
	case "rsa-sha2-256":
		h := sha256.Sum256(data)
		return holds(rsa.VerifyPKCS1v15(k.key, crypto.SHA256, h[:], s) == nil)
	case "rsa-sha2-512":
		h := sha512.Sum512(data)
		return holds(rsa.VerifyPKCS1v15(k.key, crypto.SHA512, h[:], s) == nil)
	case typeRSA:
		return bad("rsa with SHA-1 is refused; sign again with ssh-keygen 8.2 or later")
	}
	return wrongAlgorithm()
}

// verify checks a token's signature, which covers the hash of data together
// with the token's flags and counter (PROTOCOL.u2f, "SSH U2F signatures").
func (k skKey) verify(alg string, sig, data []byte) error {
	if alg != k.kind {
		return wrongAlgorithm()
	}
	w := wire{b: sig}
	s := w.str()
	tail := w.b // flags and counter, as they are signed
	flags := w.u8()
	w.u32()
	if !w.done() {
		return damaged()
	}
	app, msg := sha256.Sum256(k.application), sha256.Sum256(data)
	covered := append(append(app[:], tail...), msg[:]...)
	var err error
	switch inner := k.inner.(type) {
	case ed25519Key:
		err = inner.checkRaw(s, covered)
	case ecdsaKey:
		err = inner.checkRaw(s, covered)
	}
	if err == nil && flags&flagUserPresent == 0 {
		return bad("the hardware key was not touched; sign again with a key that asks for it")
	}
	return err
}

func holds(ok bool) error {
	if !ok {
		return bad("the message or the signature was changed")
	}
	return nil
}

func damaged() error { return malformed("its signature field is damaged") }

func wrongAlgorithm() error {
	return malformed("its algorithm does not belong to its key")
}
