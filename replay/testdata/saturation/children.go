package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/replay/testdata/rig"
	"reprise/trace"
)

// instants are those of a run, ns from its zero.
func instants(o *options) (out []int64) {
	rng := rand.New(rand.NewPCG(1, 4))
	for at := 0.0; at < (warm + o.step).Seconds(); at += rng.ExpFloat64() / o.rate {
		out = append(out, int64(at*1e9))
	}
	return out
}

// load is our client. Its stamps are the user's, so that TTFT shows what it is
// behind with, as it does with the others.
func load(o *options) error {
	client, err := openai.New(openai.Config{URL: o.url, API: openai.Completions, Model: "mock", Prompter: rig.Words{},
		Wire: openai.Wire{Stamps: "user"}, IdleConns: time.Minute})
	if err != nil {
		return err
	}
	defer client.Close()
	client.Connect(context.Background(), int(1.25*o.rate*(ttftMS+itlMS*tokens)/1000)+16)
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i, at := range instants(o) {
		t.Requests = append(t.Requests, trace.Request{ID: int64(i), T: trace.Some(at / 1000), Input: trace.Some[int32](32), Output: trace.Some[int32](tokens), N: 1})
	}
	plan, err := replay.NewPlan(t)
	if err != nil {
		return err
	}
	var said result
	bad := ""
	if _, err = plan.Run(context.Background(), client, replay.Options{}, func(r replay.Result) error {
		if r.Class != replay.OK {
			bad = r.Class.String() + ": " + r.Reason
		}
		if r.Sched >= warm.Nanoseconds() && r.Class == replay.OK {
			said.Lag = append(said.Lag, float64(r.WriteEnd.V-r.Sched)/1e6)
			said.TTFT = append(said.TTFT, float64(r.FirstContent.V-r.WriteEnd.V)/1e6)
			said.Events += int(r.NEvents)
		}
		return nil
	}); err != nil {
		return err
	}
	if bad != "" {
		return fmt.Errorf("a request failed: %s", bad)
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// bare is a thread that waits for the same instants and sends nothing.
func bare(o *options) error {
	runtime.LockOSThread()
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var said result
	var buf [8]byte
	zero := monotonic()
	for _, at := range instants(o) {
		if at+zero > monotonic() {
			set := unix.ItimerSpec{Value: unix.NsecToTimespec(at + zero)}
			if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &set, nil); err != nil {
				return err
			}
			if _, err := unix.Read(fd, buf[:]); err != nil {
				return err
			}
		}
		if at >= warm.Nanoseconds() {
			said.Lag = append(said.Lag, float64(monotonic()-zero-at)/1e6)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// monotonic is the kernel's clock, ns.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}
