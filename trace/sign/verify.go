package sign

import (
	"fmt"
	"time"
)

// Signer is whose signature holds.
type Signer struct {
	Principal   string
	KeyType     string // as in a public key file, such as ssh-ed25519
	Fingerprint string // SHA256:..., as ssh-keygen -l prints it
}

// Verify checks that armoredSig is a signature over exactly message, made for
// namespace, by a key that signers allow for principal in that namespace at
// time at. Dates without a zone in signers are read in at's zone. The error
// wraps one of the Err values of this package.
func Verify(message, armoredSig []byte, signers *AllowedSigners, principal, namespace string, at time.Time) (Signer, error) {
	if namespace == "" {
		return Signer{}, namespaceError("none was asked for")
	}
	e, err := open(armoredSig)
	if err != nil {
		return Signer{}, err
	}
	if e.namespace != namespace {
		return Signer{}, namespaceError(fmt.Sprintf("the signature was made for %q, not for %q", e.namespace, namespace))
	}
	if err := e.check(message); err != nil {
		return Signer{}, err
	}
	if err := signers.allow(e.key, principal, namespace, at); err != nil {
		return Signer{}, err
	}
	return Signer{Principal: principal, KeyType: e.keyType, Fingerprint: fingerprint(e.key)}, nil
}

func namespaceError(what string) error {
	return fmt.Errorf("%w: %s", ErrNamespace, what)
}
