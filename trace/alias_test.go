package trace

import "testing"

// TestAlias reads the aliases that are given, and takes no other name for one.
func TestAlias(t *testing.T) {
	digest := [16]byte{0x3f, 0x9a, 0x1c, 0x0b, 0x22, 0xd4}
	if got := KeyedAlias("model", digest); got != "model-3f9a1c0b22" {
		t.Error(got)
	}
	for name, want := range map[string]AliasKind{
		NumberedAlias("model", 1): Numbered, "model12": Numbered, KeyedAlias("model", digest): Keyed,
		"": NoAlias, "model": NoAlias, "model-": NoAlias, "model-3f9a1c0b2": NoAlias, "model-3f9a1c0b2z": NoAlias,
		"adapter1": NoAlias, "gpt-4o": NoAlias, "model1b": NoAlias, "other": NoAlias,
	} {
		if got := AliasOf("model", name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}
