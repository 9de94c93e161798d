package sign

import "errors"

// What can be wrong with a signature. Verify wraps exactly one of them; test
// with errors.Is.
var (
	// ErrBadSignature: the signature does not hold over these bytes, or it is
	// of a kind that is refused (certificate, SHA-1, short RSA, no touch).
	ErrBadSignature = errors.New("bad signature")
	// ErrUnknownSigner: the signature holds, but no line allows its key for the
	// principal.
	ErrUnknownSigner = errors.New("unknown signer")
	// ErrNamespace: the signature was made for another purpose, or its key is
	// not allowed for this one.
	ErrNamespace = errors.New("wrong namespace")
	// ErrExpired: the key was not valid at the time asked about, too early
	// included.
	ErrExpired = errors.New("key not valid at this time")
	// ErrMalformed: not a signature in the format of ssh-keygen.
	ErrMalformed = errors.New("malformed signature")
)
