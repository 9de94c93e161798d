package compare

import (
	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

func (s *side) features(t *trace.Trace) {
	f := fit.Features(t)
	s.specFeatures(&f)
}

// specFeatures notes the shares of requests that use a feature.
func (s *side) specFeatures(f *spec.Features) {
	for _, v := range []struct {
		name  string
		share *spec.Number
	}{{"streamed", f.Stream}, {"with tools", f.Tools}, {"with a JSON schema", f.Schema}, {"with n > 1", f.Several}, {"chat", f.Chat}} {
		if v.share != nil {
			s.values[featurePrefix+v.name] = float64(v.share.Value)
		}
	}
	s.names = map[string][]spec.Share{kinds[0]: f.Models, kinds[1]: f.Adapters}
}

const featurePrefix = "share "
