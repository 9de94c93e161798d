package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/replay/testdata/rig"
	"reprise/trace"
)

// load is our client: it runs one case and says what it saw.
func load(o *options) error {
	client, err := openai.New(openai.Config{URL: o.url, API: openai.Completions, Model: "mock", Prompter: rig.Words{},
		Wire: openai.Wire{Engine: o.engine, Stamps: o.stamps}, IdleConns: time.Minute})
	if err != nil {
		return err
	}
	defer client.Close()
	ahead := o.n
	if o.starts == "poisson" {
		ahead += o.n / 4 // so many are in flight now and then
	}
	client.Connect(context.Background(), ahead)
	var results []replay.Result
	if o.starts == "poisson" {
		results, err = arrivals(o, client)
	} else {
		results, err = streams(o, client)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(summarize(results))
}

// lifetime is an answer's by the mock's law.
func lifetime(o *options) time.Duration {
	return time.Duration((o.ttft + o.itl*float64(o.tokens-1)) * 1e6)
}

// spread is over what time streams begin.
func spread(o *options) time.Duration {
	if o.starts == "random" {
		return lifetime(o)
	}
	return 0
}

func request(o *options) replay.Job {
	return replay.Job{Request: trace.Request{Input: trace.Some[int32](32), Output: trace.Some(int32(o.tokens)), N: 1}}
}

// streams keeps o.n requests in flight, each stream beginning at once or at
// random within the life of an answer.
func streams(o *options, client *openai.Client) (all []replay.Result, err error) {
	calls := make([]replay.Call, o.n*o.rounds) // rendered ahead, as a run does
	for i := range calls {
		if calls[i], err = client.Prepare(request(o)); err != nil {
			return nil, err
		}
	}
	runtime.GC() // of what came before: a run begins long after its plan is made
	timer := replay.NewTimer(time.Now())
	rng := rand.New(rand.NewPCG(1, 1))
	all = make([]replay.Result, len(calls))
	var wg sync.WaitGroup
	for i := range o.n {
		wait := time.Duration(rng.Float64() * float64(spread(o)))
		wg.Go(func() {
			time.Sleep(wait)
			for k := i * o.rounds; k < (i+1)*o.rounds; k++ {
				send(calls[k], timer, &all[k])
				calls[k] = nil
			}
		})
	}
	wg.Wait()
	return all, nil
}

func send(call replay.Call, timer replay.Timer, to *replay.Result) {
	f := replay.NewFlight(timer)
	*to = call.Send(context.Background(), f)
	to.Dispatch = trace.Some(f.Dispatch)
}

// arrivals sends at random instants at the rate that keeps o.n in flight.
func arrivals(o *options, client *openai.Client) ([]replay.Result, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	rate := float64(o.n) / lifetime(o).Seconds()
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	at := 0.0
	for i := range o.n * o.rounds {
		q := request(o).Request
		q.ID, q.T = int64(i), trace.Some(int64(at*1e6))
		t.Requests = append(t.Requests, q)
		at += rng.ExpFloat64() / rate
	}
	plan, err := replay.NewPlan(t)
	if err != nil {
		return nil, err
	}
	var out []replay.Result
	_, err = plan.Run(context.Background(), client, replay.Options{}, func(r replay.Result) error {
		out = append(out, r)
		return nil
	})
	return out, err
}

func summarize(results []replay.Result) (s seen) {
	var ttft, tpot []float64
	for i := range results {
		r := &results[i]
		if r.Class != replay.OK {
			s.Bad = r.Class.String() + ": " + r.Reason
			continue
		}
		ttft = append(ttft, float64(r.FirstContent.V-r.WriteEnd.V)/1e6)
		tpot = append(tpot, float64(r.LastContent.V-r.FirstContent.V)/1e6/float64(max(r.OutUsage.V-1, 1)))
	}
	s.N, s.MeanMS, s.TPOTMS = len(ttft), rig.Mean(ttft), rig.Mean(tpot)
	if len(ttft) > 0 {
		s.P99MS = rig.Quantile(ttft, 0.99)
	}
	return s
}
