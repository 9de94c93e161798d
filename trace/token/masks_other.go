//go:build !amd64

package token

// classify fills m for one block.
func classify(m *masks, block *[blockSize]byte) { classifyPlain(m, block) }
