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
	for _, a := range f.Models {
		s.values[featurePrefix+"of model "+a.Alias] = float64(a.Value)
	}
	for _, a := range f.Adapters {
		s.values[featurePrefix+"of adapter "+a.Alias] = float64(a.Value)
	}
}

const featurePrefix = "share "
