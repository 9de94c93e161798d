package main

import (
	"strings"
	"testing"
)

// What is asked for instead of a run never sends the run, and flags without an
// effect are refused.
func TestInsteadOfARun(t *testing.T) {
	path := smallTrace(t)
	for _, c := range []struct{ flags, says string }{
		{"--k8s 0", "--k8s is a number of client machines"},
		{"--self-test=0s", "--self-test=0s is no time"},
		{"--self-test=-1s", "--self-test=-1s is no time"},
		{"--self-test 5s", "stands after an equals sign: --self-test=5s"},
		{"--self-test --k8s 2 --k8s-image i", "do not go together"},
		{"--k8s-image i", "--k8s-image has an effect with --k8s alone"},
		{"--seed 4", "--seed has no effect"},
		{"--seed 4 --concurrency 2", "--seed has no effect"},
		{"--seed 4 --rate 3 --arrivals constant", "--seed has no effect"},
		{"--adapter x=y", "--adapter x=y: no request of the trace"},
		{"--concurrency 2,a", `"a": want a whole number`},
		{"--cache nope", "--cache is workload, none or keep"},
		{"--slo ttft__p101__<=__1s", "not on p101"},
		{"--ramp 5..5 --for 1s", "--ramp 5..5 changes nothing"},
	} {
		args := []string{"replay", path, "--url", "http://127.0.0.1:1", "-o", t.TempDir() + "/run"}
		for _, f := range strings.Fields(c.flags) {
			args = append(args, strings.ReplaceAll(f, "__", " "))
		}
		code, _, talk := command(t, args...)
		if code != exitUsage || !strings.Contains(talk, c.says) || strings.Contains(talk, "strconv") {
			t.Errorf("%s: exit %d, %s", c.flags, code, talk)
		}
	}
}
