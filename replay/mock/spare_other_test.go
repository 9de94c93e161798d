//go:build !unix

package mock

// spareFiles is how many files more this process may open, up to most; here
// nothing bounds them.
func spareFiles(most int) int { return most }
