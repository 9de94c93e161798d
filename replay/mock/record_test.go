package mock

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/replay/mock/engine"
	"reprise/trace"
)

// TestRecording: what arrived is a trace, with blocks that show who shares
// what, and times by the mock's clock.
func TestRecording(t *testing.T) {
	cfg := testConfig(func(c *Config) { c.Record = true; c.Law.Plain = &engine.Plain{TTFT: 50000, ITL: 10000} })
	wireBubble(t, cfg, func(t *testing.T, w *wireFront, dial func() net.Conn) {
		ask := func(raw string) {
			c := dial()
			defer c.Close()
			if _, err := io.WriteString(c, raw+"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
				t.Error(err)
			}
			_, _ = io.Copy(io.Discard, c)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		prompt := func(n int, last string) string { return strings.Repeat("w ", n) + last }
		ask(completion(fmt.Sprintf(`{"model":"mock","prompt":%q,"stream":true,"max_tokens":20,"ignore_eos":true}`, prompt(40, "x")), "X-Extra: 1")) // 41 tokens
		ask(completion(fmt.Sprintf(`{"model":"mock","prompt":%q,"max_tokens":3,"ignore_eos":true}`, prompt(32, "y"))))                              // 33, shares 2 blocks
		ask(completion(`{"model":"other","prompt":"a"}`))
		ask(completion(`{`))
		tr, err := w.h.Recording()
		if err != nil {
			t.Fatal(err)
		}
		some := trace.Some[int32]
		us := trace.Some[int64]
		want := []trace.Request{
			{T: us(0), Model: "mock", Input: some(41), Output: some(20), Cached: some(0), Max: some(20), Blocks: []int32{0, 1, 2},
				Stream: trace.Some(true), Finish: trace.FinishLength, Status: trace.Some[int16](200), TTFT: us(50000), Dur: us(240000)},
			{ID: 1, Model: "mock", Input: some(33), Output: some(3), Cached: some(0), Max: some(3), Blocks: []int32{0, 1, 3},
				Stream: trace.Some(false), Finish: trace.FinishLength, Status: trace.Some[int16](200), Dur: us(70000)},
			{ID: 2, Finish: trace.FinishError, Status: trace.Some[int16](404)},
			{ID: 3, Finish: trace.FinishError, Status: trace.Some[int16](400)},
		}
		at := int64(0)
		for i := range want {
			want[i].T, want[i].API, want[i].From, want[i].N = us(at), trace.Completions, trace.Counted, 1
			at += 1e6 + want[i].Dur.V
		}
		if !reflect.DeepEqual(tr.Requests, want) {
			t.Errorf("got\n%+v\nwant\n%+v", tr.Requests, want)
		}
		checkTraceFile(t, tr)
		list, err := w.h.Arrivals()
		if err != nil || len(list) != 4 || !slices.Equal(list[0].Headers, []string{"Host", "Content-Length", "X-Extra"}) || list[0].Stamp != "user" || list[1].Conn != 2 {
			t.Errorf("%v %+v", err, list)
		}
		var out bytes.Buffer
		if err := WriteArrivals(&out, list); err != nil || strings.Count(out.String(), "\n") != 4 {
			t.Errorf("%v %s", err, out.String())
		}
		var back Arrival
		if err := json.NewDecoder(&out).Decode(&back); err != nil || !reflect.DeepEqual(back, list[0]) {
			t.Errorf("%v %+v, want %+v", err, back, list[0])
		}
	})
}

// checkTraceFile writes a trace and reads it back.
func checkTraceFile(t *testing.T, tr *trace.Trace) {
	t.Helper()
	var file bytes.Buffer
	if err := trace.Write(&file, tr.Header, tr.All()); err != nil {
		t.Fatal(err)
	}
	back, err := trace.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(back.Requests) != len(tr.Requests) || !slices.Equal(back.Requests[1].Blocks, tr.Requests[1].Blocks) {
		t.Errorf("the trace does not come back from its file: %v", err)
	}
}

// TestKernelStamps: on Linux requests over TCP have the kernel's stamp once it
// stamps at all. It lies between sending and the answer.
func TestKernelStamps(t *testing.T) {
	s := startMock(t, func(c *Config) { c.Record = true })
	before := time.Now()
	c, r := dial(t, s)
	raw := completion(`{"model":"mock","prompt":"a"}`)
	send := func() []Arrival {
		t.Helper()
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		receive(t, r, raw)
		list, err := s.Arrivals()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := send()
	if runtime.GOOS == "linux" {
		// The kernel turns stamping on a little after the first socket asks for
		// it; from then on every request has one.
		for range 500 {
			if list[len(list)-1].Stamp == "kernel" {
				break
			}
			list = send()
		}
		from := len(list) - 1
		for range 3 {
			list = send()
		}
		for _, a := range list[from:] {
			if a.Stamp != "kernel" {
				t.Errorf("stamp by the %s", a.Stamp)
			}
		}
	}
	after := time.Now()
	for _, a := range list {
		if a.UnixNS < before.UnixNano() || a.UnixNS > after.UnixNano() {
			t.Errorf("stamp %d is not between %d and %d", a.UnixNS, before.UnixNano(), after.UnixNano())
		}
	}
}

// TestRecordingOfNetHTTP: the other server keeps the same facts, but for the
// size of the head and the order of headers.
func TestRecordingOfNetHTTP(t *testing.T) {
	s := startMock(t, func(c *Config) { c.Record, c.NetHTTP = true, true })
	c, r := dial(t, s)
	raw := completion(`{"model":"mock","prompt":"a"}`, "A: b")
	for range 2 {
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		receive(t, r, raw)
	}
	list, err := s.Arrivals()
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	if a := list[1]; a.Conn != 1 || a.Reused != 1 || a.Stamp != "user" || a.BodyBytes != 29 || !slices.Equal(a.Headers, []string{"A", "Content-Length"}) {
		t.Errorf("%+v", a)
	}
	if _, err := startMock(t).Recording(); err == nil {
		t.Error("a recording of nothing")
	}
}

// TestTLS: a server with a certificate of its own speaks HTTP/1.1 and HTTP/2.
func TestTLS(t *testing.T) {
	s := startMock(t, func(c *Config) { c.TLS = &TLS{} })
	for _, two := range []bool{false, true} {
		tr := &http.Transport{TLSClientConfig: trusting(t, s), Protocols: new(http.Protocols)}
		tr.Protocols.SetHTTP1(!two)
		tr.Protocols.SetHTTP2(two)
		resp, err := (&http.Client{Transport: tr}).Post(s.URL()+"/v1/completions", "application/json", strings.NewReader(ask20))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(events(t, string(body))) != 20 || (resp.ProtoMajor == 2) != two {
			t.Errorf("%v %s: %s", err, resp.Proto, body)
		}
		tr.CloseIdleConnections()
	}
	if _, err := Start(t.Context(), testConfig(func(c *Config) { c.TLS = &TLS{Cert: "nowhere.pem", Key: "nowhere.key"} })); err == nil {
		t.Error("a certificate that is not there: accepted")
	}
}

func trusting(t *testing.T, s *Server) *tls.Config {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.Certificate()) {
		t.Fatal("no certificate")
	}
	return &tls.Config{RootCAs: pool}
}
