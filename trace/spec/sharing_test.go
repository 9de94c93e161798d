package spec

import (
	"strings"
	"testing"
)

// TestSharingAndSessionsChecked refuses what synth, compare and readers could not
// rely on, by the path of its key.
func TestSharingAndSessionsChecked(t *testing.T) {
	p := Provenance{From: Measured, N: 100}
	tab := func(v ...Num) *Table {
		x := &Table{Provenance: p}
		for i := range v {
			x.P = append(x.P, Num(i)/Num(max(len(v)-1, 1)))
		}
		x.Values = v
		return x
	}
	for want, prefix := range map[string]Prefix{
		"common_prefix[0].kind":  {Identical: []CommonPrefix{{Kind: "tenant"}}},
		"alias":                  {Identical: []CommonPrefix{{Kind: KindModel}}},
		"common_prefix.share":    {Identical: []CommonPrefix{{Kind: KindAll, Share: 2}}},
		"cache_curve[1]":         {Curve: []CachePoint{{CapacityTokens: 10}, {CapacityTokens: 10}}},
		"hit_rate_tokens":        {Curve: []CachePoint{{CapacityTokens: 10, Tokens: 1.5}}},
		"reuse_times_s":          {ReuseTimes: tab(5, 1)},
		"generated.by":           {Generated: &Generated{By: "guess"}},
		"share_beyond_common":    {ShareBeyond: &Number{Value: -1}},
		"broken.tokens_if_moved": {Broken: &Broken{Would: -1}},
		"broken.share":           {Broken: &Broken{Share: 3}},
	} {
		prefix.BlockTokens = 16
		if err := prefix.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, s := range map[string]Sessions{
		"identity":        {Identity: "idle_gap"},
		"hazards[1]":      {Hazards: []Hazard{{Turn: 1}, {Turn: 3}}},
		"hazards[0]":      {Hazards: []Hazard{{Turn: 1, AndLater: true}, {Turn: 2}}},
		"value":           {Hazards: []Hazard{{Turn: 1, Value: 1.2}}},
		"between_turns_s": {Between: tab(3, 2)},
		"history_kept":    {Kept: tab(0, 2)},
		"growth_tokens":   {Growth: tab(3, -3)},
		"first_reuse":     {FirstReuse: &Reuse{}},
		"starts":          {Starts: &Starts{Rate: Number{Value: -1}}},
		"share":           {Compacted: &Number{Value: 7}},
	} {
		s.Turns = *tab(1, 4)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	good := Sessions{Identity: ByParent, Turns: *tab(1, 4), Growth: tab(-30, 0, 60), Hazards: []Hazard{{Turn: 1, Value: 0.5}, {Turn: 2, Value: 1, AndLater: true}}}
	if err := good.check(); err != nil {
		t.Error(err)
	}
}
