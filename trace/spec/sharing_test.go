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
		"goes with broken":       {Further: []Broken{{Share: 0.5}}},
		"broken_further[0].at":   {Broken: &Broken{Share: 0.5}, Further: []Broken{{Share: 0.5, At: -1}}},
		"at most all":            {Broken: &Broken{Share: 0.7}, Further: []Broken{{Share: 0.7}}},
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

// TestAllBroken lists what SetBroken took, in its order.
func TestAllBroken(t *testing.T) {
	var p Prefix
	for n := range 4 {
		var all []Broken
		for i := range n {
			all = append(all, Broken{At: Num(10 + i)})
		}
		p.SetBroken(all)
		got := p.AllBroken()
		if len(got) != n || (p.Broken == nil) != (n == 0) || len(p.Further) != max(n-1, 0) {
			t.Fatalf("%d become %+v and %+v", n, p.Broken, p.Further)
		}
		for i, b := range got {
			if b.At != Num(10+i) {
				t.Errorf("the %d. of %d is at %v", i, n, b.At)
			}
		}
	}
	b := Broken{Share: 0.4, At: 14, Now: 16, Would: 2014}
	if s := b.Sentence(); b.Gain() != 1998 || !strings.Contains(s, "40 % of the prompts") || !strings.Contains(s, "token 14 ") || !strings.Contains(s, "1998 more") {
		t.Error(s)
	}
	further := Broken{Share: 0.4, At: 2030, Now: 2014, Would: 2514, Behind: true}
	if s := further.Sentence(); !strings.Contains(s, "behind that field, in 40 %") || !strings.Contains(s, "2514 with both moved (500 more") {
		t.Error(s)
	}
	whole := b
	whole.Share = 1
	for _, c := range []struct {
		all  []Broken
		good bool
	}{
		{[]Broken{whole, further}, true}, {[]Broken{whole, further, further}, true}, {[]Broken{further}, false},
		{[]Broken{{Share: 0.3}, further}, false}, {[]Broken{whole, b}, false}, {[]Broken{b, further, b}, true},
	} {
		p.SetBroken(c.all)
		if err := p.checkBroken(); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.all, err)
		}
	}
}
