package rig

import (
	"strings"

	"reprise/replay"
)

// Words counts a token for each word, and makes prompts of words.
type Words struct{}

// Encode gives a token for each word.
func (Words) Encode(dst []int32, text string) []int32 {
	for range strings.Fields(text) {
		dst = append(dst, 1)
	}
	return dst
}

// AppendPrompt makes a prompt of as many words as the job has tokens.
func (w Words) AppendPrompt(dst []byte, job *replay.Job, _ int32) ([]byte, int32) {
	n := job.Request.Input.Or(1)
	return w.AppendFresh(dst, 0, int(n)), n
}

// AppendFresh makes a prompt of n words.
func (Words) AppendFresh(dst []byte, _ int64, n int) []byte {
	return append(dst, strings.TrimSpace(strings.Repeat("w ", n))...)
}
