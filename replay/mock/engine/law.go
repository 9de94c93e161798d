package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// BlockTokens is the size of a KV block, tokens (vLLM's default).
const BlockTokens = 16

// Law is what governs an engine. Times are in microseconds.
type Law struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where the figures come from

	FloorUS     float64 `json:"floor_us"`               // a step never takes less
	BaseUS      float64 `json:"base_us"`                // fixed cost of a step
	DecodeUS    float64 `json:"decode_us"`              // for each sequence that decodes
	KVTokenUS   float64 `json:"kv_token_us"`            // for each token of context that decodes attend to
	PrefillUS   float64 `json:"prefill_token_us"`       // for each prompt token computed
	IngressUS   float64 `json:"ingress_us"`             // before a request can be scheduled; costs the engine nothing
	JitterSigma float64 `json:"jitter_sigma"`           // lognormal factor of mean 1 on each step; 0 for none
	MaxSeqs     int     `json:"max_num_seqs"`           // sequences in a batch
	MaxBatched  int     `json:"max_num_batched_tokens"` // tokens in a step, decodes included
	Blocks      int     `json:"num_gpu_blocks"`         // KV blocks of BlockTokens
	Watermark   float64 `json:"watermark"`              // share of blocks that admission leaves free
	PrefixCache bool    `json:"prefix_cache"`
	CacheUnit   int     `json:"cache_unit_tokens"` // cache hits are whole multiples of it; 0 for BlockTokens
	MaxModelLen int     `json:"max_model_len"`     // prompt + output, tokens

	MaxWaiting        int     `json:"max_waiting"`         // waiting beyond max_num_seqs before 503; 0 for no limit
	RequestsPerMinute float64 `json:"requests_per_minute"` // refill of the token bucket before 429; 0 for no limit
	RateBurst         int     `json:"rate_burst"`          // size of the bucket; 0 for a minute's worth

	Output OutputLaw `json:"output"`
	Plain  *Plain    `json:"plain,omitempty"` // set: no engine, an exact schedule
}

// OutputLaw draws the natural length of an answer, tokens: lognormal, at
// least 1. It applies where ignore_eos is not asked for.
type OutputLaw struct {
	Median float64 `json:"median"`
	Sigma  float64 `json:"sigma"`
}

// Plain is an exact schedule without queueing: token k of a request (from 0)
// leaves at arrival + TTFT + k·ITL, microseconds.
type Plain struct {
	TTFT float64 `json:"ttft_us"`
	ITL  float64 `json:"itl_us"`
}

// MaxUS bounds every time in a law: 1,000 s.
const MaxUS = 1e9

// Validate says what is wrong with a law, naming the field.
func (l *Law) Validate() error {
	for _, f := range []struct {
		name       string
		value, max float64
	}{
		{"floor_us", l.FloorUS, MaxUS}, {"base_us", l.BaseUS, MaxUS}, {"decode_us", l.DecodeUS, MaxUS},
		{"kv_token_us", l.KVTokenUS, MaxUS}, {"prefill_token_us", l.PrefillUS, MaxUS}, {"ingress_us", l.IngressUS, MaxUS},
		{"jitter_sigma", l.JitterSigma, 2}, {"watermark", l.Watermark, 0.5},
		{"requests_per_minute", l.RequestsPerMinute, 1e9}, {"output.sigma", l.Output.Sigma, 4},
		{"max_waiting", float64(l.MaxWaiting), 1e9}, {"rate_burst", float64(l.RateBurst), 1e9},
	} {
		if !(f.value >= 0 && f.value <= f.max) {
			return fmt.Errorf("law %q: %s is %v, give 0 to %g", l.Name, f.name, f.value, f.max)
		}
	}
	if !(l.Output.Median >= 1 && l.Output.Median <= 1e6) {
		return fmt.Errorf("law %q: output.median is %v, give 1 to 1e6 tokens", l.Name, l.Output.Median)
	}
	if l.MaxModelLen < 2 || l.MaxModelLen > 1<<24 {
		return fmt.Errorf("law %q: max_model_len is %d, give 2 to %d tokens", l.Name, l.MaxModelLen, 1<<24)
	}
	if l.Plain != nil {
		return l.validatePlain()
	}
	return l.validateEngine()
}

func (l *Law) validatePlain() error {
	if !(l.Plain.TTFT >= 0 && l.Plain.TTFT <= MaxUS && l.Plain.ITL >= 0 && l.Plain.ITL <= MaxUS) {
		return fmt.Errorf("law %q: plain.ttft_us and plain.itl_us are %v and %v, give 0 to %g", l.Name, l.Plain.TTFT, l.Plain.ITL, MaxUS)
	}
	return nil
}

func (l *Law) validateEngine() error {
	switch {
	case max(l.FloorUS, l.BaseUS) < 1:
		return fmt.Errorf("law %q: floor_us and base_us are both under 1, so steps would take no time", l.Name)
	case l.MaxSeqs < 1 || l.MaxSeqs > 1<<16:
		return fmt.Errorf("law %q: max_num_seqs is %d, give 1 to %d", l.Name, l.MaxSeqs, 1<<16)
	case l.MaxBatched < l.MaxSeqs || l.MaxBatched > 1<<24:
		return fmt.Errorf("law %q: max_num_batched_tokens is %d, give max_num_seqs (%d) to %d", l.Name, l.MaxBatched, l.MaxSeqs, 1<<24)
	case l.CacheUnit < 0 || l.CacheUnit > 1<<16 || l.CacheUnit%BlockTokens != 0:
		return fmt.Errorf("law %q: cache_unit_tokens is %d, give a multiple of %d up to %d", l.Name, l.CacheUnit, BlockTokens, 1<<16)
	case l.Blocks < blocksFor(int32(l.MaxModelLen)) || l.Blocks > 1<<24:
		return fmt.Errorf("law %q: num_gpu_blocks is %d, give at least %d for one sequence of max_model_len", l.Name, l.Blocks, blocksFor(int32(l.MaxModelLen)))
	}
	return nil
}

// stepTime is the length of a step of so many decodes over kv tokens of
// context and so many prefilled tokens. It is at most an hour.
func (l *Law) stepTime(decodes, kv, prefill int, rng *rand.Rand) time.Duration {
	us := l.BaseUS + float64(l.DecodeUS*float64(decodes)) + float64(l.KVTokenUS*float64(kv)) + float64(l.PrefillUS*float64(prefill))
	us = max(us, l.FloorUS)
	if s := l.JitterSigma; s > 0 {
		us *= math.Exp(float64(s*rng.NormFloat64()) - float64(s*s)/2)
	}
	return micros(min(max(us, 1), 3600e6))
}

// draw is the natural length of the answer that seed and key stand for.
func (o OutputLaw) draw(seed, key uint64) int32 {
	z := rand.New(rand.NewPCG(seed, key)).NormFloat64()
	n := math.Round(o.Median * math.Exp(float64(o.Sigma*z)))
	return int32(min(max(n, 1), 1<<24))
}

func micros(us float64) time.Duration { return time.Duration(math.Round(us * 1e3)) }

// unit is the size of a cache hit in blocks.
func (l *Law) unit() int { return max(1, l.CacheUnit/BlockTokens) }

func blocksFor(tokens int32) int { return (int(tokens) + BlockTokens - 1) / BlockTokens }
