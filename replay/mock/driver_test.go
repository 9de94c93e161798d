package mock

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// recorder is a client that notes when each write reached it. It can be told
// to be slow.
type recorder struct {
	*httptest.ResponseRecorder
	at    []time.Time
	pause time.Duration
}

func (r *recorder) Write(p []byte) (int, error) {
	time.Sleep(r.pause)
	r.at = append(r.at, time.Now())
	return r.ResponseRecorder.Write(p)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseRecorder }

// ask sends a request to a handler inside a bubble.
func ask(ctx context.Context, h http.Handler, path, body string, pause time.Duration) *recorder {
	r := &recorder{ResponseRecorder: httptest.NewRecorder(), pause: pause}
	h.ServeHTTP(r, httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body)))
	return r
}

// bubble runs a handler in fake time; the bubble itself fails if a goroutine
// is left over.
func bubble(t *testing.T, cfg Config, f func(*testing.T, *Handler)) {
	synctest.Test(t, func(t *testing.T) {
		h, err := newHandler(cfg, func() driver.Waiter { return driver.NewTimerWaiter() })
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		f(t, h)
	})
}

const ask20 = `{"model":"mock","prompt":"a b","stream":true,"max_tokens":20,"ignore_eos":true}`

// TestPlainInRealTime: through driver and handler the plain schedule is exact.
func TestPlainInRealTime(t *testing.T) {
	cfg := testConfig()
	cfg.Law.Plain = &engine.Plain{TTFT: 50000, ITL: 10000}
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				start := time.Now()
				r := ask(t.Context(), h, "/v1/completions", ask20, 0)
				if len(r.at) != 20 {
					t.Errorf("%d writes", len(r.at))
				}
				for k, at := range r.at {
					if got, want := at.Sub(start), 50*time.Millisecond+time.Duration(k)*10*time.Millisecond; got != want {
						t.Errorf("token %d after %v, want %v", k, got, want)
					}
				}
			})
		}
		wg.Wait()
		if l := h.Lateness(); l.Step.N != 1000 || l.Write.MaxUS != 0 {
			t.Errorf("lateness %+v", l)
		}
	})
}

// TestSlowClientDelaysNobody: a client that takes 1 s for each write gets all
// its tokens, and its neighbour gets them on time.
func TestSlowClientDelaysNobody(t *testing.T) {
	cfg := testConfig()
	cfg.Law = testLaw()
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		alone := ask(t.Context(), h, "/v1/completions", ask20, 0)
		start := time.Now()
		var slow *recorder
		var wg sync.WaitGroup
		wg.Go(func() { slow = ask(t.Context(), h, "/v1/completions", ask20, time.Second) })
		quick := ask(t.Context(), h, "/v1/completions", ask20, 0)
		// A step of two decodes takes 12 ms, and it may have missed the first.
		if got, most := quick.at[19].Sub(start), 21*12*time.Millisecond; got > most {
			t.Errorf("last token of the neighbour after %v, want at most %v", got, most)
		}
		wg.Wait()
		content := func(r *recorder) int { return strings.Count(r.Body.String(), `"text":" `) + 1 }
		if content(slow) != 20 || content(slow) != content(alone) || !strings.HasSuffix(slow.Body.String(), "data: [DONE]\n\n") {
			t.Errorf("the slow client got %s", slow.Body)
		}
	})
}

// TestCancellation: a client that goes away frees its place and its blocks.
func TestCancellation(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		cfg := testConfig()
		cfg.Law = testLaw()
		bubble(t, cfg, func(t *testing.T, h *Handler) {
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for range 6 { // 4 run, 2 wait
				wg.Go(func() {
					ask(ctx, h, "/v1/completions", `{"model":"mock","prompt":"a b","max_tokens":1000,"ignore_eos":true,"stream":`+stream+`}`, 0)
				})
			}
			time.Sleep(time.Second)
			s, err := h.driver.Snapshot()
			if err != nil || s.Running != 4 || s.Waiting != 2 || s.KVUsage == 0 {
				t.Errorf("before: %+v %v", s, err)
			}
			cancel()
			wg.Wait()
			synctest.Wait()
			s, _ = h.driver.Snapshot()
			if s.Running+s.Waiting != 0 || s.KVUsage != 0 || s.Ended[engine.Abort] != 6 {
				t.Errorf("after: %+v", s)
			}
		})
	}
}

// TestQueueLimit: one runs, one waits, the third is told 503.
func TestQueueLimit(t *testing.T) {
	cfg := testConfig()
	cfg.Law = testLaw()
	cfg.Law.MaxSeqs, cfg.Law.MaxWaiting = 1, 1
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		codes := make([]int, 3)
		var wg sync.WaitGroup
		for i := range codes {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				r := ask(t.Context(), h, "/v1/completions", ask20, 0)
				codes[i] = r.Code
				if i == 2 {
					checkError(t, "full queue", r.Result(), r.Body.String(), 503, "ServiceUnavailableError")
				}
			})
		}
		wg.Wait()
		if !slices.Equal(codes, []int{200, 200, 503}) {
			t.Errorf("codes %v", codes)
		}
	})
}

// TestCloseEndsStreams: closing ends every request, waiting or not.
func TestCloseEndsStreams(t *testing.T) {
	cfg := testConfig()
	cfg.Law = testLaw()
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r := ask(t.Context(), h, "/v1/completions", strings.Replace(ask20, "20", "900", 1), 0)
				if strings.Contains(r.Body.String(), "[DONE]") {
					t.Error("a stream that was cut says [DONE]")
				}
			})
		}
		time.Sleep(time.Second)
		h.Close()
		wg.Wait()
		if r := ask(t.Context(), h, "/v1/completions", ask20, 0); r.Code != 503 {
			t.Errorf("after close: %d", r.Code)
		}
	})
}

// TestDisconnect: over a real connection, a client that hangs up is noticed.
func TestDisconnect(t *testing.T) {
	_, h := serve(t, func(c *Config) { c.Law.MaxModelLen, c.Law.Blocks = 1<<20, 1<<16 })
	left := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/completions", strings.NewReader(strings.Replace(ask20, "20", "1000000", 1)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Body.Close()
	<-left // never, if hanging up went unnoticed
	st, err := h.driver.Snapshot()
	if err != nil || st.Ended[engine.Abort] != 1 || st.Running != 0 || st.KVUsage != 0 {
		t.Errorf("after: %+v %v", st, err)
	}
}
