package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"reprise/trace"
)

// Set by the linker (see the Makefile); nothing else writes them.
var (
	release = "0.1.0-dev"
	commit  = ""
)

// version names this build. The commit is known where the build had the
// repository; a local build without it says "none".
func version() trace.Tool {
	t := trace.Tool{Name: "reprise", Version: release, Commit: "none"}
	if commit != "" {
		t.Commit = commit
		return t
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			t.Commit = s.Value[:12]
		}
	}
	return t
}

func versionLine() string {
	v := version()
	return fmt.Sprintf("reprise %s (commit %s, %s)\n", v.Version, v.Commit, runtime.Version())
}
