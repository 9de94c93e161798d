package sign

import (
	"errors"
	"fmt"
	"strings"
)

// AllowedLine makes the line of an allowed_signers file, newline included, by
// which one person's key may sign for the namespaces; without any, for all.
// pubKeyFile is the content of a .pub file. Patterns are refused: the line
// stands for exactly one principal and exactly these namespaces.
func AllowedLine(pubKeyFile []byte, principal string, namespaces ...string) (string, error) {
	if err := plain("principal", principal); err != nil {
		return "", err
	}
	for _, ns := range namespaces {
		if err := plain("namespace", ns); err != nil {
			return "", err
		}
	}
	text := strings.TrimSpace(string(pubKeyFile))
	if strings.Contains(text, "PRIVATE KEY") {
		return "", errors.New("this is a private key; give the .pub file beside it")
	}
	f := strings.Fields(text)
	if strings.Contains(text, "\n") || len(f) < 2 {
		return "", errors.New("not a public key file; it must hold one line, KEYTYPE KEY COMMENT")
	}
	if !known(f[0]) {
		return "", errors.New("key type not supported; use the .pub file of an ed25519, ecdsa or rsa key")
	}
	options := ""
	if len(namespaces) > 0 {
		options = ` namespaces="` + strings.Join(namespaces, ",") + `"`
	}
	line := fmt.Sprintf("%s%s %s %s\n", principal, options, f[0], f[1])
	if _, err := parseLine(strings.TrimSuffix(line, "\n")); err != nil {
		return "", fmt.Errorf("public key file: %w", err)
	}
	return line, nil
}

// plain refuses what has a meaning of its own in an allowed_signers line.
func plain(what, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%s is empty", what)
	case !printable(s) || s[0] == '#' || strings.ContainsAny(s, " ,*?!\"\\"):
		return fmt.Errorf("%s %q starts with # or has a blank or one of , * ? ! \" \\", what, s)
	}
	return nil
}
