package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"reprise/replay"
	"reprise/replay/openai"
)

// warmConnections are opened before the clock starts, so that the first
// requests do not wait for handshakes; more are opened as the load needs them.
const warmConnections = 32

// warm is the number of connections to open ahead: the slots of a closed loop,
// as far as there are descriptors for them. Each takes so many of this process.
func warm(p *replay.Plan, files int) int {
	n := warmConnections
	for _, l := range p.Shape.Points {
		n = max(n, min(l.Concurrency, maxWarm))
	}
	if planned := p.Planned(); planned >= 0 {
		n = min(n, int(planned))
	}
	if can := replay.ThisMachine().Connections(); can >= 0 {
		n = min(n, int(can)/files)
	}
	return n
}

// maxWarm bounds what is opened before a closed loop.
const maxWarm = 4096

// send runs the plan and keeps the results, however it ends.
func (o *replayOptions) send(ctx context.Context, s *stdio, plan *replay.Plan, client *openai.Client, run *replay.Run) error {
	s.talk("opening connections")
	if err := o.endpoint.warmUp(ctx, s, client, run); err != nil {
		return err
	}
	client.Connect(ctx, warm(plan, 1))
	server, err := o.endpoint.watch(ctx, s, client)
	if err != nil {
		return err
	}
	if err := o.shards.ready(s); err != nil {
		return err
	}
	run.StartedAt = time.Now().UTC().Format(time.RFC3339)
	m := s.newMonitor(plan)
	cut := make(chan struct{})
	s.hurry.set(func() { close(cut) }, fmt.Sprintf("; what was kept is in %s: reprise report %s", o.output, o.output))
	defer s.hurry.set(nil, "")
	done, err := replay.Record(ctx, o.output, *run, plan, client, replay.Options{Waiter: o.waiter, Grace: o.grace, Cut: cut, At: o.shards.at, Server: server, Until: o.until, Follow: o.following(s, m), Count: o.tok.Count, Broken: o.broken, Level: o.level, Health: m.health, Drain: func(flying int64) {
		if ctx.Err() != nil && flying > 0 {
			m.clear()
			s.talk("draining %d requests for up to %v; again ends at once", flying, o.grace)
		}
	}}, func(r replay.Result) {
		m.live.Result(&r)
		if o.each != nil {
			o.each(&r)
		}
	})
	m.clear()
	o.done = done
	if done == nil {
		return err
	}
	return o.conclude(s, done, err)
}

// following says that a machine which is done waits for the others.
func (o *replayOptions) following(s *stdio, m *monitor) func(time.Duration) {
	return func(left time.Duration) {
		m.clear()
		s.talk("the requests of this machine are over; following the server's metrics for %v more, until the other machines' are; an interrupt ends that", left.Round(time.Millisecond))
	}
}

func (o *replayOptions) conclude(s *stdio, run *replay.Run, runErr error) error {
	var parts []string
	for _, c := range run.Outcomes {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Class))
		}
	}
	s.talk("planned %d = %s; client %s: %s", run.Planned, strings.Join(parts, " + "), strings.ReplaceAll(run.Verdict.Verdict, "_", "-"), run.Verdict.Reason)
	if by := run.Endpoint.Protocols(); by != "" {
		s.talk("spoken: %s", by)
	}
	if run.Resent > 0 {
		s.talk("%d requests were sent a second time, since their kept connection proved dead (--resend)", run.Resent)
	}
	for _, c := range run.Outcomes {
		if c.N > 0 && c.Reason != "" {
			s.talk("%s, for instance: %s", c.Class, c.Reason)
		}
	}
	if _, err := os.Stat(o.output); err != nil {
		return withHint(fmt.Errorf("the results folder %s is gone: it was taken away while the run went on", o.output), "what was measured is lost: run it again")
	}
	fmt.Fprintln(s.out, o.output)
	switch {
	case errors.Is(runErr, replay.ErrInterrupted):
		return interrupted{withHint(fmt.Errorf("%w; what there is was kept in %s", runErr, o.output), "reprise report %s", o.output)}
	case errors.Is(runErr, replay.ErrLacking):
		return verdict{exitDistrust, runErr.Error() + "; the results are in " + o.output}
	case errors.Is(runErr, replay.ErrNoRoom):
		return withHint(runErr, "make room, or name a folder on another disk with -o; reprise report %s tells what was kept", o.output)
	case runErr != nil:
		return runErr
	case run.Verdict.Lacking > 0:
		return verdict{exitDistrust, fmt.Sprintf("%s: they say nothing of the server, and what was sent was less than planned: the report withholds its latencies", run.Verdict.Reason)}
	case !answered(run):
		return fmt.Errorf("no request was answered; the results are in %s", o.output)
	case run.Verdict.Verdict == replay.ClientLimited:
		return verdict{exitDistrust, "the client was late, so its latencies are not the server's: the report withholds them"}
	}
	return nil
}

// answered reports whether any request got its answer, with or without the
// stream's last word.
func answered(run *replay.Run) bool {
	for _, c := range run.Outcomes {
		if c.N > 0 && (c.Class == replay.OK.String() || c.Class == replay.NoDone.String()) {
			return true
		}
	}
	return false
}
