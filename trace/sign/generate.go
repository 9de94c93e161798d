package sign

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// GenerateKey runs ssh-keygen to make an ed25519 key pair without a passphrase
// at path and path.pub: a key to try things with, not one to keep. It refuses
// to overwrite either file; the error is then os.ErrExist.
func GenerateKey(ctx context.Context, path, comment string) error {
	if path == "" {
		return errors.New("no path given for the new key")
	}
	if comment != "" && !printable(comment) {
		return errors.New("comment of the new key has unprintable characters")
	}
	for _, p := range []string{path, path + ".pub"} {
		if _, err := os.Lstat(p); err == nil {
			return fmt.Errorf("key file %q is there already; name another: %w", p, os.ErrExist)
		} else if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cannot make a key: %w", err)
		}
	}
	if _, err := keygen(ctx, nil, nil, "-q", "-t", "ed25519", "-N", "", "-f", path, "-C", comment); err != nil {
		return fmt.Errorf("cannot make key %s: %w", path, err)
	}
	return nil
}
