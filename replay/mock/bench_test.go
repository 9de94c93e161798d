package mock

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"reprise/replay/mock/engine"
	"reprise/trace/token"
)

// readStreams keeps streams open against a server, one after the other on each
// connection, with a client that only looks for the end of each. Every stream has n
// tokens.
func readStreams(b *testing.B, addr string, streams, each, n int) {
	body := fmt.Sprintf(`{"model":"mock","prompt":[1,2,3],"stream":true,"ignore_eos":true,"max_tokens":%d}`, n)
	request := fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	var wg sync.WaitGroup
	for range streams {
		wg.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			r := bufio.NewReaderSize(conn, 4096)
			for range each {
				if _, err := io.WriteString(conn, request); err != nil {
					b.Error(err)
					return
				}
				for {
					line, err := r.ReadSlice('\n')
					if err != nil {
						b.Error(err)
						return
					}
					if string(line) == "0\r\n" {
						break
					}
				}
				if _, err := r.Discard(2); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkHTTP is the whole server over loopback, client and server on the
// same cores: paced streams of 100 tokens 10 ms apart, and a flood with no time
// between tokens.
func BenchmarkHTTP(b *testing.B) {
	for _, c := range []struct {
		name      string
		streams   int
		ttft, itl float64
	}{{"paced10", 10, 20000, 10000}, {"paced100", 100, 20000, 10000}, {"paced250", 250, 20000, 10000}, {"flood", 32, 0, 0}} {
		b.Run(c.name, func(b *testing.B) {
			law := plain()
			law.Plain = &engine.Plain{TTFT: c.ttft, ITL: c.itl}
			s, err := Start(b.Context(), DefaultConfig(law, words{}))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			runs := 0
			for b.Loop() {
				readStreams(b, s.listener.Addr().String(), c.streams, 1, 100)
				runs++
			}
			l := s.Lateness()
			b.ReportMetric(float64(runs*c.streams*100)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(l.Step.P99US, "step-p99-µs")
			b.ReportMetric(l.Write.P50US, "write-p50-µs")
			b.ReportMetric(l.Write.P99US, "write-p99-µs")
		})
	}
}

// BenchmarkPrompt is what a 1,000-word chat costs before it reaches the engine.
func BenchmarkPrompt(b *testing.B) {
	counter, err := token.Open("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(`{"model":"mock","messages":[{"role":"system","content":"` + strings.Repeat("some words of a prompt ", 200) + `"},{"role":"user","content":"hello"}]}`)
	for _, cached := range []bool{true, false} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			p := prompter{counter: counter, template: DefaultTemplate()}
			for b.Loop() {
				c, fault := decode(true, data)
				if fault != nil {
					b.Fatal(fault)
				}
				if !cached {
					p.cache = textCache{}
				}
				engine.HashBlocks(nil, p.render(c))
			}
		})
	}
}
