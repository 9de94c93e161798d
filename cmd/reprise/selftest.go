package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/replay/selftest"
	"reprise/trace"
)

// test sends the busiest part of a plan to a mock with stamps, the way that the
// plan would go, and prints what the client and the path add to it.
func (o *replayOptions) test(ctx context.Context, s *stdio, plan *replay.Plan, t *trace.Trace, run *replay.Run) error {
	part := plan.Busiest(o.selfTest)
	if part == nil {
		return usagef("--self-test is of a schedule: give --rate instead of --concurrency")
	}
	client, _, err := o.client(t, run)
	if err != nil {
		return err
	}
	defer client.Close()
	notes, err := client.Preflight(ctx)
	if err != nil {
		return err
	}
	for _, n := range append(run.Notes, notes...) {
		s.talk("note: %s", n)
	}
	s.talk("self-test at %s: sending the busiest part of the load, %s, %d tokens to come", client.Endpoint().URL, amount(part), part.Asked())
	client.Connect(ctx, warm(part, 1))
	test, stats, err := o.sendTest(ctx, part, client)
	if err != nil {
		return err
	}
	return concludeTest(s, test.Report(stats.Verdict, client.Path(), stats.Clock.Stamps))
}

// sendTest runs the part and takes its results.
func (o *replayOptions) sendTest(ctx context.Context, part *replay.Plan, client *openai.Client) (*selftest.Test, replay.RunStats, error) {
	var test *selftest.Test
	stats, err := part.Run(ctx, client, replay.Options{Waiter: o.waiter, Health: func(replay.HealthRow) {},
		Start: func(t replay.Timer) { test = selftest.New(t.At(0).UnixNano()) },
	}, func(r replay.Result) error {
		test.Add(&r)
		return nil
	})
	return test, stats, err
}

// concludeTest prints a report; one that does not hold exits 4.
func concludeTest(s *stdio, r *selftest.Report) error {
	if r.Answered == 0 {
		return errors.New("the self-test had no answer: see whether the endpoint works with a plain replay")
	}
	if r.Unstamped == r.Answered {
		return withHint(errors.New("the answers have no stamps, so nothing is known of their error"), "start reprise mock --stamps where the server is, and let nothing on the way change its events")
	}
	fmt.Fprintln(s.out, strings.Join(r.Lines(), "\n"))
	if r.Verdict == replay.ClientLimited {
		return verdict{exitDistrust, "the self-test does not hold: latencies taken this way are not the server's"}
	}
	return nil
}
