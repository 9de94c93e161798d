package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/replay/openai"
)

// What a headroom test is made of.
const (
	headroomSpeed  = 2                      // times as fast as planned
	headroomPart   = 2 * time.Second        // of the plan, its busiest
	headroomStream = 600 * time.Millisecond // for the longest answer
	headroomEvents = 50_000                 // at the most
	headroomJobs   = 4_000
	headroomLimit  = 2 * time.Second
)

// headroom tests how much more than planned this client could take, and notes
// it in run.json. A closed loop plans no rate, and a sweep, which has many short
// runs, goes without.
func (o *replayOptions) headroom(ctx context.Context, s *stdio, plan *replay.Plan, prompts *replay.Prompts, run *replay.Run) error {
	part := plan.Busiest(headroomPart)
	if !s.headroom || o.untested || o.each != nil || part == nil {
		return nil
	}
	planned := float64(part.Asked()) / max(part.Length(), time.Second).Seconds()
	law := shrink(part)
	srv, err := mock.Start(ctx, mock.DefaultConfig(law, pieces{}))
	if err != nil {
		return fmt.Errorf("the headroom test: %w", err)
	}
	defer srv.Close()
	client, err := openai.New(openai.Config{URL: srv.URL(), API: run.Endpoint.API, Model: "mock", Prompter: prompts,
		IgnoreEOS: openai.Auto, Wire: openai.Wire{Engine: o.wire.engine, Stamps: o.wire.stamps, NewConns: o.wire.newConns}})
	if err != nil {
		return fmt.Errorf("the headroom test: %w", err)
	}
	defer client.Close()
	h, err := measureHeadroom(ctx, part, client, planned, replay.ReadCPU)
	if err != nil {
		return err
	}
	run.Headroom = h
	if s.talk("%s", h.Sentence()); h.Tight() {
		run.Notes = append(run.Notes, h.Note())
	}
	return nil
}

// shrink cuts a part to the size of the test, and returns the law under which its
// longest answer takes headroomStream.
func shrink(part *replay.Plan) engine.Law {
	part.Jobs = part.Jobs[:min(len(part.Jobs), headroomJobs)]
	part.Faster(headroomSpeed)
	scale := min(1, headroomEvents/float64(part.Asked()))
	longest := int32(1)
	for i := range part.Jobs {
		r := &part.Jobs[i].Request
		r.Adapter, r.N = "", 1 // the mock has none
		r.Output.V, r.Output.OK = max(int32(float64(r.Output.Or(1))*scale), 1), true
		longest = max(longest, r.Output.V)
	}
	itl := min(10_000, float64(headroomStream.Microseconds())/float64(longest))
	return engine.Law{Name: "headroom", MaxModelLen: 1 << 24, Output: engine.OutputLaw{Median: 1}, Plain: &engine.Plain{TTFT: 10_000, ITL: itl}}
}

// measureHeadroom runs the part; cpu reads what the process had of the CPU.
func measureHeadroom(ctx context.Context, part *replay.Plan, client *openai.Client, planned float64, cpu func() replay.CPUReading) (*replay.Headroom, error) {
	limited, cancel := context.WithTimeout(ctx, headroomLimit)
	defer cancel()
	client.Connect(limited, warm(part, 2)) // the mock has the other end
	var events atomic.Int64
	before := cpu()
	stats, err := part.Run(limited, client, replay.Options{Health: func(replay.HealthRow) {}}, func(r replay.Result) error {
		events.Add(int64(r.NEvents))
		return nil
	})
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, replay.ErrInterrupted) { // of the limit
		return nil, fmt.Errorf("the headroom test: %w", err)
	}
	return replay.NewHeadroom(planned, headroomSpeed, events.Load(), cpu().Since(before, runtime.GOMAXPROCS(0)), stats), nil
}

// pieces counts a token for four bytes: what the mock's own counting would take
// is no matter of the client.
type pieces struct{}

func (pieces) Encode(dst []int32, text string) []int32 {
	for b := []byte(text); len(b) >= 4; b = b[4:] {
		dst = append(dst, int32(binary.LittleEndian.Uint32(b)&0x7fffffff))
	}
	return dst
}
