package trace

import (
	"reflect"
	"testing"
)

// TestBrokenPrefixes are read back as they were written, and from traces of
// before that told one.
func TestBrokenPrefixes(t *testing.T) {
	one := BrokenPrefix{Prompts: 900, Sampled: 512, Share: 0.5, Now: 14, Would: 2014, At: 14}
	two := one
	two.At, two.Share = 30, 0.25
	for _, want := range [][]BrokenPrefix{nil, {one}, {one, two}} {
		text, err := encodeCounting(Header{Counting: &Counting{Broken: want}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeCounting(text)
		if err != nil || !reflect.DeepEqual(got.Broken, want) || got.Only != nil {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	got, err := decodeCounting(`{"broken_prefix":{"prompts":900,"sampled":512,"share":0.5,"tokens_shared_now":14,"tokens_if_moved":2014,"at_token":14}}`)
	if err != nil || !reflect.DeepEqual(got, &Counting{Broken: []BrokenPrefix{one}}) {
		t.Errorf("a trace of before is read as %+v, %v", got, err)
	}
}
