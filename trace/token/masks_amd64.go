package token

import "golang.org/x/sys/cpu"

// classify fills m for one block.
func classify(m *masks, block *[blockSize]byte) {
	if cpu.X86.HasAVX2 {
		classifyAVX2(m, block)
		m.blank = m.blank&^m.newline | m.space
		m.lead &= m.high
		return
	}
	classifyPlain(m, block)
}

// classifyAVX2 fills m but for two of its masks: blank has what is in U+0009 to
// U+000D, lead also what is ASCII.
//
//go:noescape
func classifyAVX2(m *masks, block *[blockSize]byte)
