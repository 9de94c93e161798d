//go:build unix

package replay_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"reprise/replay"
	"reprise/replay/openai"
	"reprise/replay/testdata/rig"
	"reprise/trace"
)

// No request waits for another's answer: a server that answers none before all
// 5,000 are there gets all of them, by both engines.
func TestNoCapInFlight(t *testing.T) {
	const n = 5000
	if limit := openFiles(); limit < 2*n+200 {
		t.Skipf("SKIPPED: both ends of %d connections need more than %d open files (ulimit -n)", n, limit)
	}
	for _, engine := range []string{openai.EngineRaw, openai.EngineNet} {
		t.Run(engine, func(t *testing.T) {
			var came atomic.Int64
			all := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if came.Add(1) == n {
					close(all)
				}
				select {
				case <-all:
				case <-r.Context().Done():
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, `data: {"choices":[{"index":0,"text":"w","finish_reason":"length"}]}`+"\n\n"+
					`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`+"\n\ndata: [DONE]\n\n")
			}))
			defer srv.Close()
			client, err := openai.New(openai.Config{URL: srv.URL, API: openai.Completions, Model: "m", Prompter: rig.Words{}, Wire: openai.Wire{Engine: engine}})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			load := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
			for i := range int64(n) {
				load.Requests = append(load.Requests, trace.Request{ID: i, T: trace.Some(i * 50), Input: trace.Some[int32](1), Output: trace.Some[int32](1), N: 1})
			}
			plan, err := replay.NewPlan(load)
			if err != nil {
				t.Fatal(err)
			}
			// Only a cap lets this end: without one it takes a second or two.
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
			defer stop()
			ok := 0
			_, err = plan.Run(ctx, client, replay.Options{}, func(r replay.Result) error {
				if r.Class != replay.OK {
					return fmt.Errorf("row %d: %v %s", r.Row, r.Class, r.Reason)
				}
				ok++
				return nil
			})
			if err != nil || ok != n || came.Load() != n {
				t.Fatalf("%d of %d answered, %d came: %v", ok, n, came.Load(), err)
			}
		})
	}
}

// openFiles is how many files a process may have open; Go has raised it to the
// hard limit.
func openFiles() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return l.Cur
}
