package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay/mock"
)

// The example that init prints is read as it stands, and names every kind.
func TestFaultsExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(path, []byte(faultsExample), 0o600); err != nil {
		t.Fatal(err)
	}
	o := faultOptions{faults: []string{path, "reset@p=0.5"}, shape: "crlf,interval=4", buffer: "hold=5ms"}
	var cfg mock.Config
	if err := o.apply(&cfg); err != nil {
		t.Fatal(err)
	}
	if n := len(cfg.Faults); n != 10 || cfg.Faults[0].Kind != "delay" || cfg.Faults[9].P != 0.5 || !cfg.Shape.CRLF || cfg.Shape.Interval != 4 || cfg.Buffer.Hold == 0 {
		t.Errorf("%d faults: %+v", n, cfg)
	}
	for _, k := range mock.FaultKinds() {
		if name := strings.Replace(k.Name, "NNN", "429", 1); !strings.Contains(faultsExample, name) {
			t.Errorf("the example does not name %s", name)
		}
		for _, field := range k.Takes {
			if !strings.Contains(faultsExample, field) {
				t.Errorf("the example does not name %s of %s", field, k.Name)
			}
		}
	}
	for _, bad := range []faultOptions{{faults: []string{"rest"}}, {faults: []string{"none.yaml"}}, {shape: "x"}, {buffer: "x"}} {
		if err := bad.apply(new(mock.Config)); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
