//go:build !unix

package replay

import "os"

// lockFile does nothing where files have no advisory locks.
func lockFile(*os.File) error { return nil }
