package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Presets returns the laws that have a name, in the order of help texts.
func Presets() []Law {
	return slices.Concat([]Law{demo(), llama8bH100()}, gpuPresets(), []Law{plain()})
}

// Preset returns the law of a name.
func Preset(name string) (Law, error) {
	laws := Presets()
	if i := slices.IndexFunc(laws, func(l Law) bool { return l.Name == name }); i >= 0 {
		return laws[i], nil
	}
	names := make([]string, len(laws))
	for i, l := range laws {
		names[i] = l.Name
	}
	return Law{}, fmt.Errorf("no mock preset %q, choose from %s", name, strings.Join(names, ", "))
}

// demo has its knee near 4 requests/s of 1,000 tokens in and 200 out: at 16
// sequences a step takes about 14.4 ms plus 1 ms of context, and each request
// adds 20 ms of prefill. That is 1,000 events/s, which two cores serve with ease.
func demo() Law {
	return Law{
		Name:   "demo",
		Source: "made up: knee near 4 requests/s of 1,000 tokens in, 200 out",
		BaseUS: 8000, DecodeUS: 400, KVTokenUS: 0.05, PrefillUS: 20, JitterSigma: 0.05,
		MaxSeqs: 16, MaxBatched: 2048, Blocks: 4096, Watermark: 0.01, PrefixCache: true, MaxModelLen: 32768,
		Output: OutputLaw{Median: 150, Sigma: 0.7},
	}
}

// @llama8bH100 keeps to the public ranges of llm-d-inference-sim for an 8B model
// on one H100: ITL 10-15 ms, TTFT 25-40 ms + 0.15-0.30 ms a prompt token, 60-120
// ms at 256 tokens. Blocks: about 60 GB of KV at 128 KiB a token (32 layers, 8 KV
// heads of 128, 2 bytes, K and V). Batch limits: vLLM's defaults for a server.
func llama8bH100() Law {
	return Law{
		Name:   "8b-h100",
		Source: "public ranges of llm-d-inference-sim, 8B model on one H100: ITL 10-15 ms, TTFT 25-40 ms + 0.15-0.30 ms/token",
		BaseUS: 10000, DecodeUS: 12, KVTokenUS: 0.006, PrefillUS: 200, IngressUS: 20000, JitterSigma: 0.03,
		MaxSeqs: 256, MaxBatched: 2048, Blocks: 28000, Watermark: 0.01, PrefixCache: true, MaxModelLen: 131072,
		Output: OutputLaw{Median: 200, Sigma: 0.8},
	}
}

// @plain is the schedule that reference measurements of clients are made on.
func plain() Law {
	return Law{
		Name:        "plain",
		Source:      "made up: TTFT 50 ms and ITL 10 ms, exact, without queueing",
		MaxModelLen: 131072,
		Output:      OutputLaw{Median: 100, Sigma: 0},
		Plain:       &Plain{TTFT: 50000, ITL: 10000},
	}
}
