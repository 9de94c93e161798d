package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"reprise/replay/mock"
)

// measure runs a client against a mock of its own, each on a core.
func measure(o *options, client func(url string) ([]string, func([]byte) (seen, error))) (row, error) {
	server := exec.Command("taskset", pinned(o, "0", os.Args[0], "-role", "mock", "-ttft", fmt.Sprint(o.ttft), "-itl", fmt.Sprint(o.itl))...)
	server.Stderr, server.Env = os.Stderr, append(os.Environ(), "GOMAXPROCS=1")
	in, err := server.StdinPipe()
	if err != nil {
		return row{}, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return row{}, err
	}
	if err := server.Start(); err != nil {
		return row{}, err
	}
	lines := bufio.NewReader(out)
	url, err := lines.ReadString('\n')
	var r row
	if err == nil {
		err = r.client(o, client, strings.TrimSpace(url))
	}
	in.Close()
	rest, _ := io.ReadAll(lines)
	if waited := server.Wait(); err == nil {
		err = waited
	}
	if err != nil {
		return row{}, err
	}
	return r, json.Unmarshal(rest, &r.true)
}

// client runs the client and takes what it used.
func (r *row) client(o *options, client func(url string) ([]string, func([]byte) (seen, error)), url string) error {
	args, decode := client(url)
	var out bytes.Buffer
	// A second P lets the poller run beside the dispatcher, on one core too; at
	// real-time priority it must not spin against itself.
	procs := "GOMAXPROCS=2"
	if o.fifo {
		procs = "GOMAXPROCS=1"
	}
	c := exec.Command("taskset", pinned(o, "1", args...)...)
	c.Stdout, c.Stderr, c.Env = &out, os.Stderr, append(os.Environ(), procs)
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, out.Bytes())
	}
	r.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.rss = int64(u.Maxrss) * 1024
	}
	var err error
	r.seen, err = decode(out.Bytes())
	return err
}

// pinned are taskset's arguments.
func pinned(o *options, core string, args ...string) []string {
	if o.fifo {
		args = append([]string{"chrt", "-f", "10"}, args...)
	}
	return append([]string{"-c", core}, args...)
}

// words counts a token for each word.
type words struct{}

func (words) Encode(dst []int32, text string) []int32 {
	for range strings.Fields(text) {
		dst = append(dst, 1)
	}
	return dst
}

// serve is the mock: it says its URL, serves until its input ends, and says what it
// saw.
func serve(o *options) error {
	law, err := mock.Preset("plain")
	if err != nil {
		return err
	}
	law.Plain = &mock.Plain{TTFT: 1000 * o.ttft, ITL: 1000 * o.itl}
	law.MaxSeqs, law.MaxBatched = 1<<15, 1<<20
	cfg := mock.DefaultConfig(law, words{})
	cfg.Record = true
	s, err := mock.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	io.Copy(io.Discard, os.Stdin)
	recorded, err := s.Recording()
	if err != nil {
		return err
	}
	late := s.Lateness()
	if err := s.Close(); err != nil {
		return err
	}
	var ttft []float64
	for _, q := range recorded.Requests {
		if q.TTFT.OK && q.Output.V > 1 {
			ttft = append(ttft, float64(q.TTFT.V)/1000)
		}
	}
	if len(ttft) == 0 {
		return errors.New("the mock had no request")
	}
	return json.NewEncoder(os.Stdout).Encode(truth{N: len(ttft), MeanMS: mean(ttft), P99MS: quantile(ttft, 0.99), Late: late.Write.P99US / 1000})
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// quantile is of type 1.
func quantile(v []float64, p float64) float64 {
	slices.Sort(v)
	return v[min(int(p*float64(len(v))), len(v)-1)]
}
