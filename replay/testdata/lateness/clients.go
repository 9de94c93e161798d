package main

import (
	"path/filepath"
	"strconv"
	"time"

	"reprise/replay/testdata/rig"
)

// client is what is measured; an absolute one begins at a given instant.
type client struct {
	name     string
	slow     bool
	absolute bool
	env      []string
	args     func(o *options, w *load, url, dir string, begin time.Time) []string
}

// ours is reprise replay. The mock counts words, which are the tokens of the
// surrogate text.
func ours(name string, absolute bool) *client {
	return &client{name: name, absolute: absolute, args: func(o *options, w *load, url, dir string, begin time.Time) []string {
		args := []string{o.reprise, "replay", w.trace, "--url", url + "/v1/completions", "--metrics-url", "none", "--tokenizer", "o200k_base", "-o", filepath.Join(dir, "run")}
		if absolute {
			args = append(args, "--start-at", begin.UTC().Format(time.RFC3339))
		}
		return args
	}}
}

// peer replays the trace with a peer, as its makers say to without a hub.
func peer(p rig.Peer) *client {
	c := &client{name: p.Name, slow: p.Slow()}
	if p.Name == rig.AIPerf {
		c.args = func(o *options, w *load, url, dir string, _ time.Time) []string {
			return []string{p.Path, "profile", "-m", "mock", "--url", url, "--endpoint-type", "completions", "--streaming", "--tokenizer", rig.HubName,
				"--input-file", w.jsonl, "--custom-dataset-type", "mooncake_trace", "--fixed-schedule", "--use-legacy-max-tokens", "--extra-inputs", "ignore_eos:true",
				"--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--output-artifact-dir", dir}
		}
		return c
	}
	c.args = func(o *options, w *load, url, dir string, _ time.Time) []string {
		return []string{p.Path, "bench", "serve", "--backend", "openai", "--base-url", url, "--endpoint", "/v1/completions", "--model", "mock",
			"--tokenizer", o.modelDir, "--dataset-name", "timed_trace", "--dataset-path", w.jsonl, "--timed-trace-chunk-hash-size", "512",
			"--timed-trace-sec-multiplier", "0.001", "--disable-shuffle", "--num-prompts", strconv.Itoa(len(w.rows)), "--ignore-eos",
			"--save-result", "--result-dir", dir, "--result-filename", "out.json"}
	}
	return c
}
