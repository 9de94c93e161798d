package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"reprise/replay/mock"
	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// Law is the mock's: an exact schedule, ms.
type Law struct{ TTFT, ITL float64 }

// Arrival is a request as the mock saw it.
type Arrival struct {
	At     int64   // Unix ns at the server's kernel
	Asked  int32   // output tokens
	TTFTMS float64 // until the first token's bytes went to the kernel; 0: none
}

// Seen is what a mock says when its client is done.
type Seen struct {
	Arrivals []Arrival
	User     int                   // arrivals without a kernel stamp
	Late     driver.LatenessReport // of the mock itself
}

// LateMS is the p99 of the mock's own lateness: a row with more than a
// millisecond shows the mock, not the client.
func (s *Seen) LateMS() float64 { return s.Late.Write.P99US / 1000 }

// lawVariable holds the law of a child.
const lawVariable = "REPRISE_RIG_LAW"

// Child serves a mock and reports true when this process was started for that.
func Child() bool {
	text := os.Getenv(lawVariable)
	if text == "" {
		return false
	}
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// serve says the mock's URL, serves until the input ends, and says what it saw.
func serve(text string) error {
	var l Law
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return err
	}
	law, err := engine.Preset("plain")
	if err != nil {
		return err
	}
	law.Plain = &engine.Plain{TTFT: 1000 * l.TTFT, ITL: 1000 * l.ITL}
	law.MaxSeqs, law.MaxBatched = 1<<15, 1<<20
	cfg := mock.DefaultConfig(law, Words{})
	cfg.Record = true
	s, err := mock.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	seen, err := look(s)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

func look(s *mock.Server) (*Seen, error) {
	recorded, err := s.Recording()
	if err != nil {
		return nil, err
	}
	arrivals, err := s.Arrivals()
	if err != nil {
		return nil, err
	}
	seen := &Seen{Late: s.Lateness()}
	for i, q := range recorded.Requests {
		if arrivals[i].Stamp != "kernel" {
			seen.User++
		}
		seen.Arrivals = append(seen.Arrivals, Arrival{At: arrivals[i].UnixNS, Asked: q.Max.V, TTFTMS: float64(q.TTFT.V) / 1000})
	}
	return seen, nil
}

// Mock is a mock in a process of its own.
type Mock struct {
	URL   string
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Reader
}

// Mock starts one on the server's core.
func (c Cores) Mock(l Law) (*Mock, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	full := c.args(c.ServerCore, []string{os.Args[0]})
	m := &Mock{cmd: exec.Command(full[0], full[1:]...)}
	m.cmd.Stderr, m.cmd.Env = os.Stderr, append(os.Environ(), "GOMAXPROCS=1", lawVariable+"="+string(text))
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	m.lines = bufio.NewReader(out)
	url, err := m.lines.ReadString('\n')
	if err != nil {
		m.Stop()
		return nil, fmt.Errorf("the mock did not start: %w", err)
	}
	m.URL = strings.TrimSpace(url)
	return m, nil
}

// Stop ends the mock and returns what it saw.
func (m *Mock) Stop() (*Seen, error) {
	m.in.Close()
	var seen Seen
	err := json.NewDecoder(m.lines).Decode(&seen)
	if waited := m.cmd.Wait(); err == nil {
		err = waited
	}
	return &seen, err
}
