package main

import (
	"path/filepath"
	"strings"
	"testing"

	"reprise/replay"
)

// The tables of a results folder are shown by their names, their rows with every
// column.
func TestShowPartsOfResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, talk := spoken(t.Context(), "replay", smallTrace(t), "--url", started(t, nil), "-o", dir); code != exitDone && code != exitDistrust {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	for name, want := range map[string]struct {
		text    string
		columns []string
	}{
		"health.parquet":   {"heartbeat late p99, worst", replay.HealthColumns()},
		"server.parquet":   {"scrapes", replay.ServerColumns()},
		"requests.parquet": {"results, version 1", replay.Columns()},
	} {
		path := filepath.Join(dir, name)
		if code, out, talk := spoken(t.Context(), "show", path); code != exitDone || !strings.Contains(out, want.text) {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, talk)
		}
		code, out, talk := spoken(t.Context(), "show", path, "--csv")
		head, _, _ := strings.Cut(out, "\n")
		if code != exitDone || head != strings.Join(want.columns, ",") {
			t.Errorf("%s --csv: exit %d, %q\n%s", name, code, head, talk)
		}
		if code, out, talk := spoken(t.Context(), "show", path, "--json"); code != exitDone || !strings.HasPrefix(out, "{") {
			t.Errorf("%s --json: exit %d\n%s%s", name, code, out, talk)
		}
	}
}
