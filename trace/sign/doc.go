// Package sign makes and checks SSHSIG signatures over bytes: the detached
// format of `ssh-keygen -Y sign`, which people verify with the ssh-keygen they
// already have. It knows nothing of what the bytes mean.
//
// Steps of a check: one armor block; the blob inside, read to its last byte;
// the namespace; the signature itself; then whether the key stands in the
// caller's list of allowed signers for the principal, the namespace and the
// time. The list is the caller's own and never comes with the thing signed.
//
// Stricter than ssh-keygen on purpose: a hardware key must have been touched,
// certificates are refused (their authority would have to be checked too), RSA
// has at least 2048 bits, an empty namespace is refused, nothing may follow
// the armor, and one bad line refuses a whole list of allowed signers.
//
// Signing runs ssh-keygen, so agents, passphrases and hardware keys work and no
// private key enters this process. Format: PROTOCOL.sshsig, PROTOCOL.u2f and
// PROTOCOL of OpenSSH; RFC 4251 section 5, RFC 5656, RFC 8332, RFC 8709.
//
// Non-goals: revocation lists, certificates, time of signing (SSHSIG has none).
package sign
