package engine

import "testing"

// TestGPUPresets: alone, each preset has the ITL and the TTFT at 256 tokens of
// the public table that it names (llm-d-inference-sim, docs/latency-profiles.md).
func TestGPUPresets(t *testing.T) {
	for name, want := range map[string]struct{ itl, ttft [2]float64 }{ // ms
		"8b-h100":      {[2]float64{10, 15}, [2]float64{60, 120}},
		"8b-a100":      {[2]float64{15, 25}, [2]float64{100, 180}},
		"8b-l40s":      {[2]float64{25, 35}, [2]float64{180, 280}},
		"8b-mi300x":    {[2]float64{12, 18}, [2]float64{50, 100}},
		"70b-h100-tp4": {[2]float64{25, 40}, [2]float64{250, 400}},
		"70b-h100-tp8": {[2]float64{18, 28}, [2]float64{150, 250}},
		"70b-a100-tp8": {[2]float64{28, 45}, [2]float64{250, 400}},
	} {
		law, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newSim(t, law, 1)
		id := s.submit(0, exact(256, 100))
		s.drain()
		ttft := s.first[id].Seconds() * 1e3
		itl := (s.done[id].At.Seconds()*1e3 - ttft) / 99
		if itl < 0.99*want.itl[0] || itl > want.itl[1] || ttft < want.ttft[0] || ttft > want.ttft[1] {
			t.Errorf("%s: ITL %.1f ms and TTFT %.1f ms, the table has %v and %v", name, itl, ttft, want.itl, want.ttft)
		}
	}
}

// TestGPUPresetArithmetic: 8B on one A100, by hand: 16 GFLOP at 312 TFLOP/s, 128
// KiB at 2.04 TB/s, 72 − 16 GB in blocks of 2 MiB.
func TestGPUPresetArithmetic(t *testing.T) {
	law, err := Preset("8b-a100")
	if err != nil {
		t.Fatal(err)
	}
	if law.DecodeUS != 51.3 || law.KVTokenUS != 0.0643 || law.Blocks != 26702 || law.IngressUS != 12000 {
		t.Errorf("%+v", law)
	}
}
