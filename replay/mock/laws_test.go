package mock

import "reprise/replay/mock/engine"

// testLaw is deterministic: a step is 10 ms, plus 1 ms a decode, 0.1 ms a
// prefilled token.
func testLaw() engine.Law {
	return engine.Law{Name: "test", BaseUS: 10000, DecodeUS: 1000, PrefillUS: 100, MaxSeqs: 4, MaxBatched: 64,
		Blocks: 256, PrefixCache: true, MaxModelLen: 1024, Output: engine.OutputLaw{Median: 5}}
}

// plain is the preset of an exact schedule.
func plain() engine.Law {
	law, err := engine.Preset("plain")
	if err != nil {
		panic(err)
	}
	return law
}
