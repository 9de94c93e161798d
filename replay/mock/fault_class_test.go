package mock_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/replay/openai"
	"reprise/trace"
)

// fields counts a token for each word.
type fields struct{}

func (fields) Encode(dst []int32, text string) []int32 {
	for range strings.Fields(text) {
		dst = append(dst, 1)
	}
	return dst
}

func (fields) AppendPrompt(dst []byte, job *replay.Job, _ int32) ([]byte, int32) {
	n := job.Request.Input.Or(1)
	return append(dst, strings.TrimSpace(strings.Repeat("w ", int(n)))...), n
}

func (fields) AppendFresh(dst []byte, _ int64, n int) []byte {
	return append(dst, strings.TrimSpace(strings.Repeat("w ", n))...)
}

func fastServer(t *testing.T, change func(*mock.Config)) *mock.Server {
	t.Helper()
	law, err := engine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	law.Plain = &engine.Plain{TTFT: 1000, ITL: 500}
	cfg := mock.DefaultConfig(law, fields{})
	change(&cfg)
	s, err := mock.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// result sends one request of 6 tokens by our client.
func result(t *testing.T, s *mock.Server, limits func(*openai.Config)) replay.Result {
	t.Helper()
	cfg := openai.Config{URL: s.URL(), Model: "mock", Prompter: fields{}}
	if pem := s.Certificate(); pem != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		cfg.TLS = &tls.Config{RootCAs: pool}
	}
	limits(&cfg)
	client, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	call, err := client.Prepare(replay.Job{Request: trace.Request{Input: trace.Some[int32](5), Output: trace.Some[int32](6), N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return call.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
}

// TestClasses: the client records each fault under the class that its name
// promises.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		fault  string
		class  replay.Class
		events int32 // -1: any
	}{
		{"delay@for=5ms", replay.OK, 6},
		{"slow_accept@for=5ms", replay.OK, 6},
		{"tls_failure", replay.TLSError, 0},
		{"hang", replay.TimeoutFirstToken, 0},
		{"hang@for=5ms", replay.Truncated, 0},
		{"close", replay.Truncated, 0},
		{"reset_early", replay.Truncated, 0},
		{"not_http", replay.StreamError, 0},
		{"http_400", replay.HTTP4xx, 0},
		{"http_429@retry_after=2", replay.HTTP429, 0},
		{"http_500", replay.HTTP5xx, 0},
		{"http_502@body=html", replay.HTTP5xx, 0},
		{"http_503", replay.Overload, 0},
		{"http_529", replay.Overload, 0},
		{"model_404", replay.HTTP4xx, 0},
		{"html", replay.StreamError, 0},
		{"not_json", replay.StreamError, 0},
		{"empty", replay.StreamError, 0},
		{"stall@after=2", replay.TimeoutIdle, 2},
		{"stall", replay.TimeoutFirstToken, 0},
		{"stall@after=2,for=5ms", replay.OK, 6},
		{"reset@after=3", replay.Truncated, -1},
		{"fin@after=3", replay.Truncated, 3},
		{"truncate@after=3", replay.Truncated, 3},
		{"cut@after=3", replay.Truncated, 3},
		{"error_event@after=2", replay.StreamError, 2},
		{"error_event", replay.StreamError, 0},
		{"bad_event@after=2", replay.StreamError, -1},
		{"no_done", replay.NoDone, 6},
		{"wrong_usage", replay.OK, 6},
		{"no_usage", replay.OK, 6},
		{"goaway", replay.OK, 6},
		{"gzip", replay.StreamError, 0}, // the client did not ask for it
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			f, err := mock.ParseFault(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			s := fastServer(t, func(cfg *mock.Config) {
				cfg.Faults = []mock.Fault{f}
				if c.class == replay.TLSError {
					cfg.TLS = &mock.TLS{}
				}
			})
			r := result(t, s, func(cfg *openai.Config) {
				if c.class == replay.TimeoutFirstToken || c.class == replay.TimeoutIdle {
					cfg.FirstToken, cfg.Idle = 300*time.Millisecond, 100*time.Millisecond
				}
			})
			if r.Class != c.class || c.events >= 0 && r.NEvents != c.events {
				t.Fatalf("%v, %d events (%s), want %v, %d", r.Class, r.NEvents, r.Reason, c.class, c.events)
			}
			switch c.fault {
			case "http_429@retry_after=2":
				if r.RetryAfterMS != trace.Some[int64](2000) {
					t.Errorf("Retry-After %+v", r.RetryAfterMS)
				}
			case "wrong_usage":
				if r.OutUsage.V != 13 {
					t.Errorf("usage %+v", r.OutUsage)
				}
			case "no_usage":
				if r.OutUsage.OK {
					t.Errorf("usage %+v", r.OutUsage)
				}
			}
		})
	}
}
