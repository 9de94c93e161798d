// Package rig runs load clients beside a mock of replay/mock, each on a core of
// its own, for the benchmarks of this folder.
//
//	Cores   where a program runs, and at what priority
//	Mock    a mock in a process of its own, and what it saw
//	Client  runs a client to its end and takes its CPU time and memory
//	Peers   the programs of other makers, by name
//
// A program that starts mocks calls Child first thing in main: the mock is the
// same program, called again. Linux only. Units: ms unless a name says so.
package rig

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cores says where the two ends of a load run. The default is a core each, by
// taskset; FIFO adds real-time priority, so that neighbours do not disturb. It is
// round robin, so that no thread of a process waits for ever for another.
type Cores struct {
	ServerCore, ClientCore string
	FIFO                   bool
}

// Flags adds the flags that set them.
func (c *Cores) Flags(f *flag.FlagSet) {
	f.BoolVar(&c.FIFO, "fifo", false, "run each process at real-time priority on its core")
	f.StringVar(&c.ServerCore, "server-core", "0", "core of the mock")
	f.StringVar(&c.ClientCore, "client-core", "1", "core or cores of the client")
}

// args are what runs a program on a core.
func (c Cores) args(core string, args []string) []string {
	if c.FIFO {
		args = append([]string{"chrt", "-r", "5"}, args...)
	}
	return append([]string{"taskset", "-c", core}, args...)
}

// procs is GOMAXPROCS of a client. A second P lets the poller run beside the
// dispatcher, on one core too.
const procs = 2

// Used is what a client took to its end.
type Used struct {
	CPU   float64 // s, with the children that it waited for
	RSS   int64   // bytes, at most
	Start time.Time
}

// Client runs a client and returns its standard output.
func (c Cores) Client(ctx context.Context, env []string, args ...string) ([]byte, Used, error) {
	full := c.args(c.ClientCore, args)
	cmd := exec.CommandContext(ctx, full[0], full[1:]...)
	// With its children: some clients are many processes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	cmd.Env = append(append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs)), env...)
	u := Used{Start: time.Now()}
	err := cmd.Run()
	if cmd.ProcessState != nil {
		u.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			u.RSS = int64(r.Maxrss) * 1024
		}
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fmt.Errorf("%w: %s", err, last(talk.String()+out.String()))
	}
	return out.Bytes(), u, err
}

// Distrusted tells a replay that ran to its end and says itself that it was late:
// exit code 4.
func Distrusted(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 4
}

// last is the last line of a text.
func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.ReplaceAll(lines[len(lines)-1], "|", "/")
}

// Mean of values, NaN of none.
func Mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Quantile is of type 1 (inverse empirical distribution), NaN of none.
func Quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return v[min(max(int(math.Ceil(p*float64(len(v))))-1, 0), len(v)-1)]
}

// Median of values; of an even number the mean of the middle two.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
