package sign

import (
	"os/exec"
	"strings"
	"testing"
)

// The package is part of a program that promises to open no connection while
// it handles logs: nothing it links may be able to.
func TestNoNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 20 {
		t.Fatalf("only %d packages listed", len(deps))
	}
	for _, d := range deps {
		if d == "net" || strings.HasPrefix(d, "net/") || d == "crypto/tls" || d == "crypto/x509" {
			t.Errorf("links %s", d)
		}
		if first, _, _ := strings.Cut(d, "/"); strings.Contains(first, ".") {
			t.Errorf("links %s, which is not in the standard library", d)
		}
	}
}
