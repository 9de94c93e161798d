package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/sanitize/bundle"
	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
)

// what says of a file that was given for another kind what it is, as far as a
// look tells; nothing of its text is said.
func (a *artifact) what() string {
	if dir := within(a.name); dir != "" {
		return "part of the results folder " + dir
	}
	switch {
	case a.starts("PAR1"):
		if _, err := keys.Open(a, a.size); err == nil {
			return "the keys beside a trace"
		}
		if _, err := trace.Open(a, a.size); err == nil {
			return "a trace"
		}
		return "some other Parquet file"
	case a.starts(zstdMagic):
		return "packed"
	case a.starts("{"):
		return a.whatJSON()
	}
	return "neither Parquet nor JSON"
}

func (a *artifact) whatJSON() string {
	var k struct {
		Kind string `json:"kind"`
	}
	data, err := a.bytes()
	if err == nil && jsonLines(data) {
		return "JSON lines, as a log is,"
	}
	if err != nil || json.Unmarshal(data, &k) != nil {
		return "JSON"
	}
	switch k.Kind {
	case spec.Kind:
		return "a spec"
	case bundle.AuditKind:
		return "the audit of a bundle"
	case engine.LawKind:
		return "a law of the mock"
	case replay.RunKind:
		return "the run.json of results"
	case sweepKind:
		return "the index of the sweep " + filepath.Dir(a.name)
	}
	return "JSON"
}

// noTrace says of an input what it is instead, and where a trace comes from.
func (a *artifact) noTrace() error {
	if a.starts(zstdMagic) {
		return a.packed()
	}
	return fmt.Errorf("%s is %s and not a trace: a trace comes from reprise ingest, cut or synth", a.name, a.what())
}

// noSpec is the same where a spec is wanted; text of people's own may be a brief.
func (a *artifact) noSpec() error {
	switch {
	case a.starts(zstdMagic):
		return a.packed()
	case a.starts("PAR1") && a.what() == "a trace":
		return fmt.Errorf("%s is a trace and not a spec: reprise fit makes a spec of it", a.name)
	case a.starts("PAR1") || a.starts("{"):
		return fmt.Errorf("%s is %s and not a spec", a.name, a.what())
	}
	return fmt.Errorf("%s is no spec, which is JSON: reprise spec makes one of a brief, reprise fit of a trace", a.name)
}

// noPlan says of what is certainly neither a plan nor a spec what it is; nil
// leaves it to their readers.
func (a *artifact) noPlan() error {
	switch what := a.what(); what {
	case "a spec", "JSON", "neither Parquet nor JSON":
		return nil
	case "packed":
		return a.packed()
	case "a trace":
		return fmt.Errorf("%s is a trace and neither a plan nor a spec: a plan names it as its workload (reprise init plan prints one), and a spec's replay rows send it by --trace", a.name)
	default:
		return fmt.Errorf("%s is %s and neither a plan nor a spec: reprise init plan prints a plan", a.name, what)
	}
}

func (a *artifact) packed() error {
	return fmt.Errorf("%s is packed: unpack it (tar --zstd -xf) and name what is in it", a.name)
}

// otherSpec is the error of reading a spec, or that the input is something else.
func (a *artifact) otherSpec(err error) error {
	if w := a.what(); a.starts("{") && (w == "a spec" || w == "JSON") {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	return a.noSpec()
}
