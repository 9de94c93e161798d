package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace"
)

// TestDemoChain runs what the demo runs before its replays, which take their
// time: every step succeeds, and both cuts have enough requests for a p95.
func TestDemoChain(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen here, which the demo signs with")
	}
	o := demoOptions{dir: filepath.Join(t.TempDir(), "demo"), seed: 1}
	if err := o.prepare(); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	d := &demo{ctx: t.Context(), s: &stdio{in: strings.NewReader(""), out: io.Discard, err: &errs}, dir: o.dir, seed: fmt.Sprint(o.seed)}
	d.chain(o.seed)
	if d.bad != "" || d.code != 0 {
		t.Fatalf("it stopped at %q, code %d: %s", d.bad, d.code, errs.String())
	}
	for _, name := range []string{"bundle/trace.parquet", "synthetic-peak.trace.parquet"} {
		x, err := trace.LoadFile(d.at(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Requests) < 200 {
			t.Errorf("%s has %d requests, too few for a verdict on a p95", name, len(x.Requests))
		}
	}
	if st, err := os.Stat(d.at("bundle/review.html")); err != nil || st.Size() == 0 {
		t.Error(err)
	}
}
