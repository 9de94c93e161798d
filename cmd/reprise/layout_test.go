package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the root of the module, seen from this package.
const module = "../.."

// mayReach lists, for each top folder, the top folders that its packages may
// reach, directly or through others.
var mayReach = map[string][]string{
	"trace":    {"trace"},
	"ingest":   {"ingest", "trace"},
	"sanitize": {"sanitize", "ingest", "trace"},
	"fit":      {"fit", "trace"},
	"replay":   {"replay", "fit", "trace"},
	"cmd":      {"cmd", "replay", "fit", "sanitize", "ingest", "trace", "testdata"},
	"testdata": {"testdata"},
}

type pkg struct {
	ImportPath string
	Dir        string
	Deps       []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Dir,Deps", "./...")
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func top(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, "reprise/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// Two wings on one root: trace <- ingest <- sanitize reads logs, trace <- fit
// <- replay works on traces, and only cmd joins them. What fit and replay
// cannot name, they cannot leak.
func TestImportRule(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("go list found %d packages", len(all))
	}
	for _, b := range breaches(all) {
		t.Error(b)
	}
}

// breaches lists what breaks the rule.
func breaches(all []pkg) []string {
	var out []string
	for _, p := range all {
		allowed, ok := mayReach[top(p.ImportPath)]
		if !ok {
			out = append(out, p.ImportPath+" lies outside the six folders")
			continue
		}
		for _, d := range p.Deps {
			if to := top(d); to != "" && !slices.Contains(allowed, to) {
				out = append(out, p.ImportPath+" reaches "+d)
			}
		}
	}
	return out
}

// The rule sees planted leaks, direct or through another package, and passes
// what is allowed.
func TestImportRuleSeesALeak(t *testing.T) {
	for from, to := range map[string]string{
		"reprise/fit": "reprise/ingest", "reprise/fit/synth": "reprise/sanitize/bundle", "reprise/replay/openai": "reprise/ingest/schemas",
		"reprise/trace": "reprise/fit", "reprise/trace/spec": "reprise/replay", "reprise/ingest": "reprise/sanitize", "reprise/util": "fmt",
		"reprise/sanitize": "reprise/fit", "reprise/replay": "reprise/cmd/reprise",
	} {
		if got := breaches([]pkg{{ImportPath: from, Deps: []string{"fmt", to}}}); len(got) != 1 {
			t.Errorf("%s reaching %s: found %v", from, to, got)
		}
	}
	for from, to := range map[string]string{"reprise/fit": "reprise/trace/spec", "reprise/replay/mock": "reprise/fit", "reprise/cmd/reprise": "reprise/sanitize", "reprise/sanitize": "reprise/ingest"} {
		if got := breaches([]pkg{{ImportPath: from, Deps: []string{"fmt", to}}}); len(got) != 0 {
			t.Errorf("%s may reach %s, but: %v", from, to, got)
		}
	}
}

func TestTopLevel(t *testing.T) {
	want := []string{".ci", ".git", ".gitignore", "LICENSE", "Makefile", "README.md", "cmd", "docs", "fit", "go.mod", "go.sum",
		"ingest", "out", "replay", "reprise", "sanitize", "testdata", "trace"}
	entries, err := os.ReadDir(module)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s does not belong at the top", e.Name())
		}
	}
}

// Reading and signing need no network: no package of the wing that sees text,
// nor the verifier, links a network client.
func TestNoNetworkInSign(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath == "reprise/trace/sign" && slices.Contains(p.Deps, "net") {
			t.Errorf("%s links net", p.ImportPath)
		}
	}
}

// No source file names a path of somebody's machine.
func TestNoLocalPaths(t *testing.T) {
	forbidden := []string{"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"}
	err := filepath.WalkDir(module, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "out") {
			return filepath.SkipDir
		}
		if e.IsDir() || !slices.Contains([]string{".go", ".md", ".yaml", ".txt", ".txtar", ".html"}, filepath.Ext(path)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, f := range forbidden {
			if strings.Contains(string(data), f) {
				t.Errorf("%s names %s", path, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
