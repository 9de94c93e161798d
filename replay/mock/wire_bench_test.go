package mock

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay/mock/engine"
)

// clientEnv makes the test binary the client of BenchmarkWire: address, streams,
// tokens of each.
const clientEnv = "REPRISE_MOCK_BENCH_CLIENT"

func TestMain(m *testing.M) {
	if what := os.Getenv(clientEnv); what != "" {
		os.Exit(benchClient(what))
	}
	os.Exit(m.Run())
}

// benchClient holds streams open at once, with starts spread over 50 ms, and
// prints the events and the reads that they came in.
func benchClient(what string) int {
	var addr string
	var streams, tokens int
	if _, err := fmt.Sscan(what, &addr, &streams, &tokens); err != nil {
		fmt.Println(err)
		return 1
	}
	conns := make([]net.Conn, streams)
	for i := range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		conns[i] = c
	}
	raw := []byte(completion(fmt.Sprintf(`{"model":"mock","prompt":[1,2,3],"stream":true,"ignore_eos":true,"max_tokens":%d}`, tokens)))
	var wg sync.WaitGroup
	var events, reads atomic.Int64
	for i, c := range conns {
		wg.Go(func() {
			time.Sleep(time.Duration(engine.Mix(uint64(i)) % uint64(50*time.Millisecond)))
			n, k := readStream(c, raw)
			events.Add(n)
			reads.Add(k)
		})
	}
	wg.Wait()
	fmt.Println(events.Load(), reads.Load())
	return 0
}

// readStream asks once and reads to the last chunk, as cheaply as can be.
func readStream(c net.Conn, raw []byte) (events, reads int64) {
	if _, err := c.Write(raw); err != nil {
		return 0, 0
	}
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		if err != nil {
			return events, reads
		}
		reads++
		events += int64(bytes.Count(b[:n], []byte("data: ")))
		if bytes.HasSuffix(b[:n], []byte("0\r\n\r\n")) {
			return events, reads
		}
	}
}

// BenchmarkWire is a server on one core (GOMAXPROCS 1; pin it with taskset)
// against a reading client in a process of its own: streams of tokens 10 ms
// apart, which is 100 events/s each. events/cpu-s is what a core gives, whatever
// else the machine does; where it is below what is offered, events come late.
func BenchmarkWire(b *testing.B) {
	for _, c := range []struct{ streams, tokens, itl int }{{100, 200, 10}, {500, 200, 10}, {1000, 200, 10}, {5000, 60, 10}, {5000, 20, 100}} {
		for _, nethttp := range []bool{false, true} {
			name := "wire"
			if nethttp {
				name = "nethttp"
			}
			b.Run(fmt.Sprintf("%s/streams%d/itl%dms", name, c.streams, c.itl), func(b *testing.B) {
				law := plain()
				law.Plain = &engine.Plain{TTFT: 200e3, ITL: float64(c.itl) * 1e3}
				s := startMock(b, func(cfg *Config) { cfg.Law = law; cfg.NetHTTP = nethttp })
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				var events, reads int64
				cpu := processCPU()
				for b.Loop() {
					e, r := runClient(b, s, c.streams, c.tokens)
					events, reads = events+e, reads+r
				}
				cpu = processCPU() - cpu
				l := s.Lateness()
				b.ReportMetric(float64(events)/cpu.Seconds(), "events/cpu-s")
				b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(events)/float64(reads), "events/read")
				b.ReportMetric(l.Write.P50US, "late-p50-µs")
				b.ReportMetric(l.Write.P99US, "late-p99-µs")
			})
		}
	}
}

// runClient runs the client's process to its end.
func runClient(b *testing.B, s *Server, streams, tokens int) (events, reads int64) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", clientEnv, s.listener.Addr(), streams, tokens), "GOMAXPROCS=1")
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("client: %v %s", err, out)
	}
	if _, err := fmt.Sscan(string(out), &events, &reads); err != nil || events < int64(streams)*int64(tokens) {
		b.Fatalf("client: %v, %d events: %s", err, events, out)
	}
	return events, reads
}
