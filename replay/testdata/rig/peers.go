package rig

import (
	"fmt"
	"slices"
	"strings"
)

// The peers that the benchmarks know how to call.
const (
	VLLMRust = "vllm-rs" // the Rust client in vLLM's wheel
	VLLM     = "vllm"    // vllm bench serve, Python
	AIPerf   = "aiperf"
)

// HubName is the tokenizer's for AIPerf, which takes no folder: of the hub's cache
// in HF_HOME, as compare.sh lays it out.
const HubName = "local/gpt2"

// Peer is a program of another maker.
type Peer struct{ Name, Path string }

// Slow tells peers that take half a minute to start, and so are run less often.
func (p Peer) Slow() bool { return p.Name != VLLMRust }

// ParsePeers reads NAME=PATH,NAME=PATH; an empty text is none.
func ParsePeers(text string) (out []Peer, err error) {
	if text == "" {
		return nil, nil
	}
	for _, pair := range strings.Split(text, ",") {
		name, path, ok := strings.Cut(pair, "=")
		if !ok || path == "" || !slices.Contains([]string{VLLMRust, VLLM, AIPerf}, name) {
			return nil, fmt.Errorf("-peers has %q, want NAME=PATH with vllm-rs, vllm or aiperf", pair)
		}
		out = append(out, Peer{name, path})
	}
	return out, nil
}

// Offline keeps a peer from looking for a model hub.
func Offline() []string {
	return []string{"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1"}
}
