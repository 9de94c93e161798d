package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"reprise/replay/testdata/rig"
)

// peer calls a peer as its makers say to, without a hub. sync: all streams
// begin at once. random: they begin by a Poisson process a quarter faster than
// the streams could take, up to their number. poisson: no bound on streams.
func peer(p rig.Peer) *client {
	c := &client{name: p.Name, slow: p.Slow()}
	if p.Name == rig.AIPerf {
		c.args, c.decode = aiperf(p.Path), aiperfSeen
	} else {
		c.args, c.decode = vllm(p.Path), vllmSeen
	}
	return c
}

// pace is the rate of a start, 0 for none, and whether streams are bounded.
func pace(o *options, c *call) (rate float64, bound bool) {
	ideal := float64(c.n) / lifetime(o).Seconds()
	switch c.start {
	case "poisson":
		return ideal, false
	case "random":
		return 1.25 * ideal, true
	}
	return 0, true
}

// vllm is `vllm bench serve`, or the Rust client of the same arguments.
func vllm(path string) func(*options, *call) []string {
	return func(o *options, c *call) []string {
		args := []string{path, "bench", "serve", "--backend", "openai", "--base-url", c.url, "--endpoint", "/v1/completions", "--model", "mock",
			"--tokenizer", o.modelDir, "--dataset-name", "random", "--random-input-len", "32", "--random-output-len", strconv.Itoa(o.tokens),
			"--num-prompts", strconv.Itoa(c.n * c.rounds), "--ignore-eos", "--save-result", "--result-dir", c.dir, "--result-filename", "out.json"}
		rate, bound := pace(o, c)
		if rate > 0 {
			args = append(args, "--request-rate", fmt.Sprintf("%.4f", rate))
		}
		if bound {
			args = append(args, "--max-concurrency", strconv.Itoa(c.n))
		}
		return args
	}
}

func vllmSeen(_ []byte, dir string) (seen, error) {
	var r struct {
		Completed int     `json:"completed"`
		TTFT      float64 `json:"mean_ttft_ms"`
		P99       float64 `json:"p99_ttft_ms"`
		TPOT      float64 `json:"mean_tpot_ms"`
	}
	err := readJSON(filepath.Join(dir, "out.json"), &r)
	return seen{N: r.Completed, MeanMS: r.TTFT, P99MS: r.P99, TPOTMS: r.TPOT}, err
}

func aiperf(path string) func(*options, *call) []string {
	return func(o *options, c *call) []string {
		args := []string{path, "profile", "-m", "mock", "--url", c.url, "--endpoint-type", "completions", "--streaming", "--tokenizer", rig.HubName,
			"--request-count", strconv.Itoa(c.n * c.rounds), "--isl", "32", "--osl", strconv.Itoa(o.tokens),
			"--extra-inputs", "ignore_eos:true", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--output-artifact-dir", c.dir}
		rate, bound := pace(o, c)
		if rate > 0 {
			args = append(args, "--request-rate", fmt.Sprintf("%.4f", rate), "--arrival-pattern", "poisson")
		}
		if bound {
			args = append(args, "--concurrency", strconv.Itoa(c.n))
		}
		return args
	}
}

func aiperfSeen(_ []byte, dir string) (seen, error) {
	type stat struct{ Avg, P99 float64 }
	var r struct {
		TTFT  stat `json:"time_to_first_token"`
		TPOT  stat `json:"inter_token_latency"`
		Count stat `json:"request_count"`
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "profile_export_aiperf.json"))
	if err != nil {
		return seen{}, err
	}
	found = append(found, filepath.Join(dir, "profile_export_aiperf.json"))
	err = readJSON(found[0], &r)
	return seen{N: int(r.Count.Avg), MeanMS: r.TTFT.Avg, P99MS: r.TTFT.P99, TPOTMS: r.TPOT.Avg}, err
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
