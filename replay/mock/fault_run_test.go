package mock_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/openai"
	"reprise/trace"
)

// faulty starts a server with faults.
func faulty(t *testing.T, change func(*mock.Config), texts ...string) *mock.Server {
	t.Helper()
	return fastServer(t, func(cfg *mock.Config) {
		for _, text := range texts {
			f, err := mock.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Faults = append(cfg.Faults, f)
		}
		change(cfg)
	})
}

// TestBursts: in a run with bursts of refusals, each is counted in its class, the
// requests around them are answered, and the classes add up to the plan.
func TestBursts(t *testing.T) {
	s := faulty(t, func(*mock.Config) {}, "http_429@n=21-30,retry_after=1", "http_500@n=51-55", "http_502@n=71-73,body=html", "error_event@n=91-92,after=2", "reset@n=101,after=1", "fin@n=111,after=2")
	client, err := openai.New(openai.Config{URL: s.URL(), Model: "mock", Prompter: fields{}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tr := &trace.Trace{}
	for i := range int64(150) {
		tr.Requests = append(tr.Requests, trace.Request{ID: i, T: trace.Some(i * 2000), Input: trace.Some[int32](5), Output: trace.Some[int32](6), N: 1})
	}
	p, err := replay.NewPlan(tr)
	if err != nil {
		t.Fatal(err)
	}
	retry := 0
	stats, err := p.Run(t.Context(), client, replay.Options{}, func(r replay.Result) error {
		if r.RetryAfterMS == trace.Some[int64](1000) {
			retry++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"ok": 128, "http_429": 10, "http_5xx": 8, "stream_error": 2, "truncated": 2}
	sum := int64(0)
	for _, o := range stats.Outcomes {
		sum += o.N
		if o.N != want[o.Class] || o.N > 0 && o.Class != "ok" && o.Reason == "" {
			t.Errorf("%d %s (%s), want %d", o.N, o.Class, o.Reason, want[o.Class])
		}
	}
	if sum != 150 || stats.Planned != 150 || retry != 10 {
		t.Errorf("%d of %d planned, %d with Retry-After", sum, stats.Planned, retry)
	}
}

// TestGoawayOfHTTP2: GOAWAY ends the connection and no request: the one under way
// is answered, the next goes by a new connection.
func TestGoawayOfHTTP2(t *testing.T) {
	s := faulty(t, func(cfg *mock.Config) { cfg.NetHTTP, cfg.TLS = true, &mock.TLS{} }, "goaway@n=2")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.Certificate())
	cfg := openai.Config{URL: s.URL(), Model: "mock", Prompter: fields{}, TLS: &tls.Config{RootCAs: pool}}
	cfg.Wire.Engine = openai.EngineNet
	client, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 4 {
		call, err := client.Prepare(replay.Job{Request: trace.Request{Input: trace.Some[int32](5), Output: trace.Some[int32](6), N: 1}})
		if err != nil {
			t.Fatal(err)
		}
		r := call.Send(t.Context(), replay.NewFlight(replay.NewTimer(time.Now())))
		if r.Class != replay.OK || r.NEvents != 6 {
			t.Errorf("request %d: %v, %d events (%s)", i+1, r.Class, r.NEvents, r.Reason)
		}
		if fresh := i == 0 || i == 2; r.Reused.OK && r.Reused.V == fresh {
			t.Errorf("request %d: reused %v", i+1, r.Reused.V)
		}
	}
}

// TestDelayIsInTTFT: what a server takes before its headers is in TTFT, by at
// least that much.
func TestDelayIsInTTFT(t *testing.T) {
	for _, text := range []string{"delay@for=60ms", "slow_accept@for=60ms"} {
		s := faulty(t, func(*mock.Config) {}, text)
		r := result(t, s, func(*openai.Config) {})
		if !r.FirstContent.OK || r.FirstContent.V < 60e6 {
			t.Errorf("%s: first content after %v", text, time.Duration(r.FirstContent.V))
		}
	}
}
