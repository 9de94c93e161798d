package openai

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	mockengine "reprise/replay/mock/engine"
	"reprise/trace"
)

// counter counts a token for each word, for the mock.
type counter struct{}

func (counter) Encode(dst []int32, text string) []int32 {
	for range strings.Fields(text) {
		dst = append(dst, 1)
	}
	return dst
}

// engineMock starts a mock of 1 ms to the first token and 0.5 ms between.
func engineMock(t *testing.T, change func(*mock.Config)) *mock.Server {
	t.Helper()
	law, err := mockengine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	law.Plain = &mockengine.Plain{TTFT: 1000, ITL: 500}
	cfg := mock.DefaultConfig(law, counter{})
	if change != nil {
		change(&cfg)
	}
	s, err := mock.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// trusting makes a client trust a mock's certificate.
func trusting(s *mock.Server) func(*Config) {
	return func(c *Config) {
		c.Model = "mock"
		if pem := s.Certificate(); pem != nil {
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(pem)
			c.TLS = &tls.Config{RootCAs: pool}
		}
	}
}

// Every shape of a stream means the same, by both engines, plain and over TLS.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape  string
		events int32
		check  func(r *replay.Result) bool
	}{
		{"", 6, func(r *replay.Result) bool { return r.OutUsage.V == 6 && r.Finish == trace.FinishLength }},
		{"crlf,split=6", 6, nil}, {"cr,split=1", 6, nil}, {"no_space", 6, nil}, {"multiline,crlf", 6, nil}, {"multiline,split=7", 6, nil},
		{"no_role", 6, nil}, {"ping=1ms", 6, nil}, {"unicode,split=3", 6, nil}, {"own_finish", 6, nil},
		{"interval=4", 3, func(r *replay.Result) bool { return r.OutUsage.V == 6 }},
		{"usage=every", 6, func(r *replay.Result) bool { return r.OutUsage.V == 6 }},
		{"usage=never", 6, func(r *replay.Result) bool { return !r.OutUsage.OK }},
		{"reasoning=0.5", 6, func(r *replay.Result) bool { return r.FirstAnswer.OK && r.FirstAnswer.V >= r.FirstContent.V }},
		{"reasoning=0.5,reasoning_field=reasoning", 6, func(r *replay.Result) bool { return r.FirstAnswer.OK }},
		{"tools", -1, func(r *replay.Result) bool {
			return r.Finish == trace.FinishToolCalls || r.Finish == trace.FinishLength
		}},
		{"no_done", 6, func(r *replay.Result) bool { return r.Class == replay.NoDone }},
	} {
		var shape mock.Shape
		if c.shape != "" {
			var err error
			if shape, err = mock.ParseShape(c.shape); err != nil {
				t.Fatal(err)
			}
		}
		for _, secure := range []bool{false, true} {
			s := engineMock(t, func(cfg *mock.Config) {
				if cfg.Shape = shape; secure {
					cfg.TLS = &mock.TLS{}
				}
			})
			for _, e := range engines {
				r := sendOf(t, client(t, s.URL(), by(e, trusting(s))), 5, 6)
				want := replay.OK
				if shape.NoDone {
					want = replay.NoDone
				}
				if r.Class != want || c.events >= 0 && r.NEvents != c.events || r.NEvents == 0 || c.check != nil && !c.check(&r) {
					t.Errorf("%q by %s, TLS %v: %+v", c.shape, e, secure, r)
				}
				checkOrder(t, &r)
			}
		}
	}
}

func sendOf(t *testing.T, c *Client, in, out int32) replay.Result {
	t.Helper()
	call, err := c.Prepare(job(in, out))
	if err != nil {
		t.Fatal(err)
	}
	return call.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
}

// Every fault of the mock has the same class by both engines.
func TestFaultsAlike(t *testing.T) {
	for _, text := range []string{"delay@for=5ms", "slow_accept@for=5ms", "hang@for=5ms", "close", "reset_early", "not_http", "http_400",
		"http_429@retry_after=2", "http_500", "http_502@body=html", "http_503", "http_529", "model_404", "html", "not_json", "empty",
		"stall@after=2,for=5ms", "fin@after=3", "truncate@after=3", "cut@after=3", "error_event@after=2", "error_event", "no_done",
		"wrong_usage", "no_usage", "goaway", "gzip", "tls_failure", "hang", "stall@after=2"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			f, err := mock.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			var got [2]string
			for i, e := range engines {
				s := engineMock(t, func(cfg *mock.Config) {
					if cfg.Faults = []mock.Fault{f}; text == "tls_failure" {
						cfg.TLS = &mock.TLS{}
					}
				})
				r := sendOf(t, client(t, s.URL(), by(e, func(c *Config) {
					trusting(s)(c)
					if text == "hang" || text == "stall@after=2" {
						c.FirstToken, c.Idle = 200*time.Millisecond, 100*time.Millisecond
					}
				})), 5, 6)
				reason := strings.ReplaceAll(r.Reason, strings.TrimPrefix(strings.TrimPrefix(s.URL(), "http://"), "https://"), "ADDR")
				got[i] = fmt.Sprint(r.Class, reason, r.Hopeless, r.HTTP, r.RetryAfterMS, r.NEvents, r.Finish, r.InUsage, r.OutUsage, r.OutChars)
				checkOrder(t, &r)
			}
			if got[0] != got[1] {
				t.Fatalf("raw: %s\nnet: %s", got[0], got[1])
			}
		})
	}
}

// Connections are used again, as few as are needed, and not at all where each
// request is to have its own.
func TestConnectionsKept(t *testing.T) {
	for _, e := range engines {
		for _, each := range []bool{false, true} {
			s := engineMock(t, nil)
			var dials atomic.Int64
			c := client(t, s.URL(), by(e, func(c *Config) {
				c.Model, c.Wire.NewConns, c.Wire.Dial = "mock", each, countDials(&dials)
			}))
			const n = 20
			for i := range n {
				r := sendOf(t, c, 5, 3)
				if r.Class != replay.OK || r.Reused.V != (i > 0 && !each) || r.TCP.OK && r.Reused.V {
					t.Fatalf("%s, each %v, request %d: %+v", e, each, i, r)
				}
			}
			if want := map[bool]int64{false: 1, true: n}[each]; dials.Load() != want {
				t.Errorf("%s, each %v: %d dials, want %d", e, each, dials.Load(), want)
			}
		}
	}
}

// There is no cap on requests in flight: all of many get their first token
// before any ends.
func TestNoCap(t *testing.T) {
	for _, e := range engines {
		const n = 400
		s := engineMock(t, func(cfg *mock.Config) { cfg.Law.MaxSeqs, cfg.Law.MaxBatched = n, 16*n })
		c := client(t, s.URL(), by(e, func(c *Config) { c.Model, c.Dials = "mock", 8 }))
		var wg sync.WaitGroup
		var bad atomic.Int64
		for range n {
			wg.Go(func() {
				call, err := c.Prepare(job(5, 3))
				if err != nil {
					bad.Add(1)
					return
				}
				if r := call.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now()))); r.Class != replay.OK || r.NEvents != 3 {
					bad.Add(1)
				}
			})
		}
		wg.Wait()
		if bad.Load() > 0 {
			t.Errorf("%s: %d of %d failed", e, bad.Load(), n)
		}
	}
}

// stampLog is a receiver that keeps the stamp of each piece.
type stampLog struct {
	clock *stamps
	pairs []struct{ at, user, sent int64 } // Unix ns, but for the first two: of the clock
}

func (l *stampLog) head(int, fields) bool { return true }

func (l *stampLog) body(b []byte, at int64) progress {
	user := l.clock.now()
	for _, line := range bytes.Split(b, []byte("\n")) {
		if i := bytes.Index(line, []byte(`"x_mock_send_ns":`)); i >= 0 {
			digits := line[i+len(`"x_mock_send_ns":`):]
			end := bytes.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' })
			sent, err := strconv.ParseInt(string(digits[:end]), 10, 64)
			if err == nil {
				l.pairs = append(l.pairs, struct{ at, user, sent int64 }{at, user, sent})
			}
		}
	}
	return moving
}

// The kernel's stamps lie between the server's instant of sending and the read
// by this process.
func TestKernelStamps(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux stamps what a TCP socket receives")
	}
	for _, secure := range []bool{false, true} {
		s := engineMock(t, func(cfg *mock.Config) {
			if cfg.StampEvents = true; secure {
				cfg.TLS = &mock.TLS{}
			}
		})
		for _, e := range engines {
			c := client(t, s.URL(), by(e, func(c *Config) {
				trusting(s)(c)
				c.Wire.Stamps = StampsKernel
			}))
			f := replay.NewFlight(replay.NewTimer(c.stamps.base))
			data := appendedBody(t, c)
			log := &stampLog{clock: c.stamps}
			query := &query{flight: f, room: c.room, data: data, limits: limits{-1, -1, -1}}
			err := c.engine.exchange(t.Context(), query, log)
			if err != nil || len(log.pairs) < 6 || c.Stamps() != StampsKernel || c.Delays().N() == 0 || c.Delays().Quantile(0.5) < 0 {
				t.Fatalf("%s, TLS %v: %v, %d stamped events, stamps by %s", e, secure, err, len(log.pairs), c.Stamps())
			}
			base := c.stamps.base.UnixNano()
			for _, q := range log.pairs {
				// 0.1 ms for what the wall clock may slew in the run of the test.
				if q.at > q.user || base+q.at < q.sent-100_000 || q.at < query.seen.writeEnd.V {
					t.Errorf("%s, TLS %v: sent at %d, stamped %d ns after, read %d ns after that", e, secure, q.sent, base+q.at-q.sent, q.user-q.at)
				}
			}
		}
	}
}

// appendedBody is a request of 6 tokens as Prepare renders it.
func appendedBody(t *testing.T, c *Client) []byte {
	call, err := c.Prepare(job(5, 6))
	if err != nil {
		t.Fatal(err)
	}
	return call.(interface{ bytes() []byte }).bytes()
}

func (k *call) bytes() []byte { return k.data }

// A step of the wall clock cannot move a stamp before what came ahead of it, or
// after the read; without a stamp the read's own time counts.
func TestStampBounds(t *testing.T) {
	s := newStamps()
	s.kernel = true
	now := time.Now().UnixNano()
	for name, c := range map[string]struct{ kernel, floor int64 }{
		"plain": {now - 1e6, 0}, "stepped back": {now + 1e12, 0}, "stepped far ahead": {now - 1e15, 5}, "none": {0, 7},
		"floor ahead": {now - 1e6, 1 << 60},
	} {
		before := s.now()
		at := s.read(c.kernel, c.floor)
		if after := s.now(); at > after || at <= min(c.floor, before-1) {
			t.Errorf("%s: %d, floor %d, read between %d and %d", name, at, c.floor, before, after)
		}
	}
	if s.used() != "kernel and user" {
		t.Error(s.used())
	}
}
