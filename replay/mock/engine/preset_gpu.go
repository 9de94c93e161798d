package engine

import "fmt"

// gpuRow is what a public table says of a model on GPUs, and what follows from
// their data sheets.
type gpuRow struct {
	name, what string

	itl, overhead, prefill float64 // ms at batch 1, ms before the prompt's tokens, ms a prompt token: inside the table's ranges
	ranges                 string  // the table's, for the source
	params                 float64 // of the model, billions; 2 bytes each
	kvBytes                float64 // of a token, all layers
	memory                 float64 // of all GPUs, GB
	bandwidth              float64 // of all GPUs, TB/s
	peak                   float64 // of all GPUs, dense BF16 TFLOP/s
}

// gpuRows are rows of llm-d-inference-sim's docs/latency-profiles.md (2026;
// gathered there from vLLM, MLPerf and vendors, FP16 or BF16, batch 1, TTFT at
// 256 tokens; "order-of-magnitude estimates"). Memory, bandwidth and peak are of
// the data sheets: H100 SXM 80 GB, 3.35 TB/s, 989 TFLOP/s; A100 80 GB, 2.04 TB/s,
// 312; L40S 48 GB, 0.864 TB/s, 362; MI300X 192 GB, 5.3 TB/s, 1307.
func gpuRows() []gpuRow {
	const llama8b, llama70b = 128 * 1024, 320 * 1024
	return []gpuRow{
		{"8b-a100", "8B model on one A100 80 GB", 18, 30, 0.40, "ITL 15-25 ms, TTFT 25-40 ms + 0.30-0.55 ms/token", 8, llama8b, 80, 2.04, 312},
		{"8b-l40s", "8B model on one L40S", 29, 35, 0.80, "ITL 25-35 ms, TTFT 25-40 ms + 0.65-1.00 ms/token", 8, llama8b, 48, 0.864, 362},
		{"8b-mi300x", "8B model on one MI300X", 14, 30, 0.17, "ITL 12-18 ms, TTFT 25-40 ms + 0.11-0.23 ms/token", 8, llama8b, 192, 5.3, 1307},
		{"70b-h100-tp4", "70B model on four H100", 30, 90, 0.75, "ITL 25-40 ms, TTFT 70-110 ms + 0.60-0.90 ms/token", 70, llama70b, 4 * 80, 4 * 3.35, 4 * 989},
		{"70b-h100-tp8", "70B model on eight H100", 22, 80, 0.45, "ITL 18-28 ms, TTFT 60-100 ms + 0.40-0.60 ms/token", 70, llama70b, 8 * 80, 8 * 3.35, 8 * 989},
		{"70b-a100-tp8", "70B model on eight A100 80 GB", 35, 80, 1.00, "ITL 28-45 ms, TTFT 60-100 ms + 0.80-1.30 ms/token", 70, llama70b, 8 * 80, 8 * 2.04, 8 * 312},
	}
}

// law turns a row into a law. What the table does not say is a lower bound from
// the data sheets: a decode takes 2 operations a parameter at peak, a token of
// context is read once at full bandwidth, blocks fill what 90 % of the memory
// leaves beside the weights. Batch limits are vLLM's defaults for a server.
func (r gpuRow) law() Law {
	return Law{
		Name: r.name,
		Source: fmt.Sprintf("public ranges of llm-d-inference-sim, %s, batch 1: %s; decode_us, kv_token_us and num_gpu_blocks computed from data-sheet figures, not measured",
			r.what, r.ranges),
		BaseUS: r.itl * 1e3, DecodeUS: tenth(2 * r.params * 1e9 / (r.peak * 1e12) * 1e6), KVTokenUS: tenth(r.kvBytes/(r.bandwidth*1e12)*1e6*1e3) / 1e3,
		PrefillUS: r.prefill * 1e3, IngressUS: (r.overhead - r.itl) * 1e3, JitterSigma: 0.08,
		MaxSeqs: 256, MaxBatched: 2048, Blocks: int((0.9*r.memory - 2*r.params) * 1e9 / (r.kvBytes * BlockTokens)),
		Watermark: 0.01, PrefixCache: true, MaxModelLen: 131072,
		Output: OutputLaw{Median: 200, Sigma: 0.8},
	}
}

// tenth rounds to a tenth.
func tenth(v float64) float64 { return float64(int(v*10+0.5)) / 10 }

func gpuPresets() []Law {
	rows := gpuRows()
	laws := make([]Law, len(rows))
	for i, r := range rows {
		laws[i] = r.law()
	}
	return laws
}
