package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// peers runs the peers that were named, each as its makers say to run it
// without a hub: NAME=PATH, where PATH is vllm-rs's or vllm's or aiperf's
// program. They bound requests in flight; of starts they know one, so they run
// beside "random" only.
func peers(o *options, start string, n int) error {
	if o.peers == "" || start != "random" {
		return nil
	}
	for _, pair := range strings.Split(o.peers, ",") {
		name, path, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("-peers has %q, want NAME=PATH", pair)
		}
		dir, err := os.MkdirTemp("", "overhead")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		row, err := measure(o, func(url string) ([]string, func([]byte) (seen, error)) {
			if name == "aiperf" {
				return aiperf(o, path, url, dir, n)
			}
			return vllm(o, path, url, dir, n)
		})
		if err != nil {
			fmt.Printf("| %s | %s | %d | failed: %s | | | | | | | |\n", name, start, n, strings.SplitN(err.Error(), "\n", 2)[0])
			continue
		}
		row.print(name, start, n, o)
	}
	return nil
}

// vllm is `vllm bench serve`, or the Rust client of the same arguments.
func vllm(o *options, path, url, dir string, n int) ([]string, func([]byte) (seen, error)) {
	args := []string{path, "bench", "serve", "--backend", "openai", "--base-url", url, "--endpoint", "/v1/completions", "--model", "mock",
		"--tokenizer", o.modelDir, "--dataset-name", "random", "--random-input-len", "32", "--random-output-len", strconv.Itoa(o.tokens),
		"--num-prompts", strconv.Itoa(n * o.rounds), "--max-concurrency", strconv.Itoa(n), "--ignore-eos", "--save-result",
		"--result-dir", dir, "--result-filename", "out.json"}
	return args, func([]byte) (s seen, err error) {
		var r struct {
			Completed int     `json:"completed"`
			TTFT      float64 `json:"mean_ttft_ms"`
			P99       float64 `json:"p99_ttft_ms"`
			TPOT      float64 `json:"mean_tpot_ms"`
			Rate      float64 `json:"request_throughput"`
		}
		err = readJSON(filepath.Join(dir, "out.json"), &r)
		return seen{N: r.Completed, MeanMS: r.TTFT, P99MS: r.P99, TPOTMS: r.TPOT, Rate: r.Rate}, err
	}
}

func aiperf(o *options, path, url, dir string, n int) ([]string, func([]byte) (seen, error)) {
	args := []string{path, "profile", "-m", "mock", "--url", url, "--endpoint-type", "completions", "--streaming", "--tokenizer", o.modelDir,
		"--concurrency", strconv.Itoa(n), "--request-count", strconv.Itoa(n * o.rounds), "--isl", "32", "--osl", strconv.Itoa(o.tokens),
		"--extra-inputs", "ignore_eos:true", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--output-artifact-dir", dir}
	return args, func([]byte) (s seen, err error) {
		type stat struct{ Avg, P99 float64 }
		var r struct {
			TTFT  stat `json:"time_to_first_token"`
			TPOT  stat `json:"inter_token_latency"`
			Rate  stat `json:"request_throughput"`
			Count stat `json:"request_count"`
		}
		found, _ := filepath.Glob(filepath.Join(dir, "*", "profile_export_aiperf.json"))
		found = append(found, filepath.Join(dir, "profile_export_aiperf.json"))
		err = readJSON(found[0], &r)
		return seen{N: int(r.Count.Avg), MeanMS: r.TTFT.Avg, P99MS: r.TTFT.P99, TPOTMS: r.TPOT.Avg, Rate: r.Rate.Avg}, err
	}
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
