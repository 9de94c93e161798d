// Bigtrace makes a trace of any number of requests and measures reprise fit on
// it. The traffic has days and weeks, bursts, sessions that grow turn by turn,
// four models, clients, and where asked for prefix blocks: instructions that
// each application shares, and the history of a session.
//
//	go run ./testdata/bigtrace -n 10000000 -o big.trace.parquet
//	go run ./testdata/bigtrace -n 10000000 -measure ./reprise
//
// The same flags give the same bytes. It is a load for benchmarks, no model of
// anybody's traffic.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	n := flag.Int64("n", 1_000_000, "requests")
	days := flag.Float64("days", 7, "days that they span")
	blocks := flag.Bool("blocks", false, "with prefix blocks of 16 tokens")
	seed := flag.Uint64("seed", 1, "seed")
	out := flag.String("o", "", "trace to write")
	measure := flag.String("measure", "", "program whose fit is measured on a trace in a temporary folder")
	dir := flag.String("dir", "", "folder for it")
	flag.Parse()
	l := load{n: *n, days: *days, blocks: *blocks, seed: *seed}
	var err error
	switch {
	case *measure != "":
		err = measured(*measure, *dir, l)
	case *out != "":
		err = l.file(*out)
	default:
		err = fmt.Errorf("give -o or -measure")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigtrace:", err)
		os.Exit(1)
	}
}

func (l load) file(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := l.write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// measured prints seconds and the most memory of fit, by the kernel's account
// of the process.
func measured(program, dir string, l load) error {
	dir, err := os.MkdirTemp(dir, "bigtrace-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "big.trace.parquet")
	if err := l.file(path); err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	c := exec.Command(program, "fit", path, "-o", filepath.Join(dir, "spec.json"))
	c.Stderr = os.Stderr
	start := time.Now()
	if err := c.Run(); err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Printf("%d requests, %.0f MB: %.1f s (%.1f s of CPU, %d cores), %.0f k requests/s, %.2f GiB at most\n",
		l.n, float64(st.Size())/1e6, wall, c.ProcessState.UserTime().Seconds()+c.ProcessState.SystemTime().Seconds(),
		runtime.GOMAXPROCS(0), float64(l.n)/wall/1e3, float64(u.Maxrss)/(1<<20))
	return nil
}
