package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/replay"
)

// rolling is the time over which live latencies are taken.
const rolling = 10 * time.Second

// monitor shows a run while it goes on: one line that changes every second on
// a terminal, and plain lines now and then where there is none.
type monitor struct {
	io      *stdio
	live    *replay.Live
	planned int64 // -1: a time tells
	length  time.Duration
	tty     bool
	width   func() int    // of the terminal in columns, asked for at each line; 0: not known
	next    time.Duration // of the next plain line
	drawn   bool
}

func (s *stdio) newMonitor(p *replay.Plan) *monitor {
	return &monitor{io: s, live: replay.NewLive(rolling), planned: p.Planned(), length: p.Length(), tty: terminal(s.err), width: func() int { return columns(s.err) }, next: 10 * time.Second}
}

// health takes a health row and shows where the run is.
func (m *monitor) health(h replay.HealthRow) {
	m.live.Health(h)
	switch {
	case m.tty:
		fmt.Fprintf(m.io.err, "\r\x1b[K%s", m.fitted(m.width()))
		m.drawn = true
	case time.Duration(h.TNS) >= m.next:
		m.io.talk("%s", m.line())
		m.next += 10 * time.Second
		if m.next > time.Minute {
			m.next = time.Duration(h.TNS).Truncate(time.Minute) + time.Minute
		}
	}
}

// clear ends the line that is drawn, before others.
func (m *monitor) clear() {
	if m.drawn {
		fmt.Fprint(m.io.err, "\r\x1b[K")
		m.drawn = false
	}
}

// field is a part of the line, dropped before those of a lower rank where the
// line is too long.
type field struct {
	text string
	rank int
}

// line is the whole state in one line.
func (m *monitor) line() string { return joined(m.fields()) }

// fitted is the state in a line that a terminal of so many columns does not wrap:
// the last column stays free, and the least important fields are left out.
func (m *monitor) fitted(width int) string {
	fields := m.fields()
	for width > 0 && len(joined(fields)) >= width && len(fields) > 1 {
		least := 0
		for i, f := range fields {
			if f.rank > fields[least].rank {
				least = i
			}
		}
		fields = slices.Delete(fields, least, least+1)
	}
	line := joined(fields)
	if width > 0 && len(line) >= width {
		line = line[:width-1] // all of it is ASCII
	}
	return line
}

func joined(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.text)
	}
	return strings.Join(parts, ", ")
}

func (m *monitor) fields() []field {
	r := m.live.Now()
	planned := fmt.Sprintf("%d", m.planned)
	if m.planned < 0 {
		planned = "no fixed number"
	}
	out := []field{
		{fmt.Sprintf("%s of %s planned", count(r.Sent, "sent"), planned), 0},
		{count(r.InFlight, "in flight"), 5}, {count(r.Done, "done"), 6}, {count(r.Errors, "errors"), 1},
		{"lag p99 " + brief(r.LagP99), 3},
	}
	if r.N > 0 {
		out = append(out, field{fmt.Sprintf("TTFT %s/%s", brief(r.TTFTP50), brief(r.TTFTP99)), 4}, field{fmt.Sprintf("TPOT %s/%s (p50/p99)", brief(r.TPOTP50), brief(r.TPOTP99)), 7})
	}
	if left := m.left(r); left != "" {
		out = append(out, field{left, 2})
	}
	return out
}

// left is the time that the schedule still has, or that the closed loop will
// take at the pace so far.
func (m *monitor) left(r replay.Reading) string {
	rest := m.length - r.Elapsed
	if m.length == 0 {
		ended := r.Done + r.Errors
		if ended == 0 || m.planned < 0 {
			return ""
		}
		rest = time.Duration(float64(r.Elapsed) / float64(ended) * float64(m.planned-ended))
	}
	if rest <= 0 {
		return "waiting for the last answers"
	}
	return rest.Round(time.Second).String() + " left"
}

func count(n int64, what string) string { return fmt.Sprintf("%d %s", n, what) }

// brief is a span in a few characters.
func brief(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2g ms", float64(d)/1e6)
}
