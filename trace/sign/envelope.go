package sign

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"unicode"
	"unicode/utf8"
)

const (
	magic   = "SSHSIG"
	version = 1

	maxNamespace = 256 // bytes; it is shown in messages
)

// envelope is the blob inside the armor (PROTOCOL.sshsig), taken apart but not
// yet believed.
type envelope struct {
	keyType   string
	key       []byte // public key blob
	namespace string
	hash      string // sha256 or sha512
	alg       string // signature algorithm
	sig       []byte // what follows the algorithm's name
}

// Info is what a signature says of itself; nothing in it has been checked.
type Info struct {
	Namespace   string
	KeyType     string // as in a public key file, such as ssh-ed25519
	Fingerprint string // SHA256:..., of the key as it stands in the signature
	Hash        string // sha256 or sha512
}

// Inspect reads an armored signature without trusting it. The error is
// ErrMalformed, or ErrNamespace for an empty namespace.
func Inspect(armored []byte) (Info, error) {
	e, err := open(armored)
	if err != nil {
		return Info{}, err
	}
	return Info{Namespace: e.namespace, KeyType: e.keyType, Fingerprint: fingerprint(e.key), Hash: e.hash}, nil
}

func open(armored []byte) (*envelope, error) {
	blob, err := dearmor(armored)
	if err != nil {
		return nil, err
	}
	return parseEnvelope(blob)
}

func parseEnvelope(blob []byte) (*envelope, error) {
	blob, ok := bytes.CutPrefix(blob, []byte(magic))
	if !ok {
		return nil, malformed("it does not start with %s", magic)
	}
	w := wire{b: blob}
	if v := w.u32(); !w.bad && v != version {
		return nil, malformed("format version %d, this build reads version %d", v, version)
	}
	e := &envelope{key: w.str()}
	e.namespace = string(w.str())
	reserved := w.str()
	e.hash = string(w.str())
	sig := wire{b: w.str()}
	if !w.done() {
		return nil, malformed("fields cut short or followed by more bytes")
	}
	e.alg = string(sig.str())
	e.sig = sig.b
	kt := wire{b: e.key}
	e.keyType = string(kt.str())
	if sig.bad || kt.bad || !printable(e.alg) || !printable(e.keyType) {
		return nil, malformed("key or signature field without a type")
	}
	return e, e.checkFields(reserved)
}

func (e *envelope) checkFields(reserved []byte) error {
	switch {
	case e.namespace == "":
		return namespaceError("the signature has an empty one")
	case len(e.namespace) > maxNamespace || !printable(e.namespace):
		return malformed("its namespace is too long or has unprintable characters")
	case len(reserved) != 0:
		return malformed("its reserved field is not empty")
	case e.hash != "sha256" && e.hash != "sha512":
		return malformed("its hash is neither sha256 nor sha512")
	}
	return nil
}

// signed returns the bytes that the key signed: the envelope's head with the
// message's hash in the place of the key.
func (e *envelope) signed(message []byte) []byte {
	b := []byte(magic)
	b = appendString(b, e.namespace)
	b = appendString(b, "") // reserved
	b = appendString(b, e.hash)
	if e.hash == "sha256" {
		h := sha256.Sum256(message)
		return appendString(b, h[:])
	}
	h := sha512.Sum512(message)
	return appendString(b, h[:])
}

// check reports whether the signature holds over message under the key that
// it carries itself. It says nothing of whose key that is.
func (e *envelope) check(message []byte) error {
	k, err := parseKey(e.key)
	if err != nil {
		return err
	}
	return k.verify(e.alg, e.sig, e.signed(message))
}

func fingerprint(keyBlob []byte) string {
	h := sha256.Sum256(keyBlob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(h[:])
}

// printable says whether s is safe to show on a terminal and not empty.
func printable(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
