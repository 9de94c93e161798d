package report

import (
	"fmt"
	"math"
	"strings"

	"reprise/replay"
	"reprise/replay/scrape"
)

// besides gives each load point of an input what the server's metrics say of its
// time. by are the metrics of the client, in the order of points.
func (in *Input) besides(points []*Summary, by []*Metrics) {
	defer in.short(points, by)
	if len(points) == 1 {
		points[0].beside(in.whole(by[0]))
		return
	}
	for i, s := range points {
		s.besidePoint(in.part(by, i, s.Point))
	}
}

// whole sums up all that was scraped, of every repetition.
func (in *Input) whole(m *Metrics) *scrape.Summary {
	var sum *scrape.Summary
	windows := m.windows()
	for i, rows := range in.Server {
		one := scrape.Summarize(rows)
		if w, ok := windows[int32(i)]; ok && one != nil { // on the clock of the results a repetition does not begin at 0
			one.Before = rows[0].TNS < w.lo
		}
		sum = joined(sum, one)
	}
	return sum
}

// part sums up what was scraped in the time of one load point: from its first
// planned instant to that of the next one, or to its last answer. Each end is
// the scrape nearest to it. Nil where no two scrapes lie in it.
func (in *Input) part(by []*Metrics, i int, point int32) *scrape.Summary {
	var sum *scrape.Summary
	ends := by[i].ends()
	for repeat, w := range by[i].windows() {
		if int(repeat) >= len(in.Server) {
			continue
		}
		until, alone := ends[repeat], ends[repeat]
		if i+1 < len(by) {
			if next, ok := by[i+1].windows()[repeat]; ok && next.lo > w.lo {
				until, alone = min(until, next.lo), w.hi
			}
		}
		part := scrape.Summarize(scrape.Cut(in.Server[repeat], w.lo, until))
		if part == nil {
			return nil
		}
		part.Running, part.Waiting, part.KVUsage = levels(in.Server[repeat], w.lo, alone)
		sum = joined(sum, part)
	}
	return sum
}

// levels are the most that the server had running and waiting, and of its cache in
// use, in the scrapes between two instants: what was scraped after the last planned
// instant of a load point may be of the next one already, its warm-up at least.
func levels(rows []replay.ServerRow, from, to int64) (running, waiting, kv *float64) {
	var in []replay.ServerRow
	for _, r := range rows {
		if r.TNS >= from && r.TNS <= to {
			in = append(in, r)
		}
	}
	if s := scrape.Summarize(in); s != nil {
		return s.Running, s.Waiting, s.KVUsage
	}
	return nil, nil, nil
}

func joined(sum, more *scrape.Summary) *scrape.Summary {
	switch {
	case sum == nil:
		return more
	case more != nil:
		sum.Add(more)
	}
	return sum
}

// short says that the last scrape came before the last answer, as it does where
// one of several client machines scraped and was done before the others.
func (in *Input) short(points []*Summary, by []*Metrics) {
	for repeat, rows := range in.Server {
		if len(rows) == 0 {
			continue
		}
		last, end := rows[len(rows)-1].TNS, int64(math.MinInt64)
		for _, m := range by {
			if e, ok := m.ends()[int32(repeat)]; ok {
				end = max(end, e)
			}
		}
		if end <= last {
			continue
		}
		for _, s := range points {
			if s.Server != nil {
				s.Notes = append(s.Notes, fmt.Sprintf("The server's own figures are by the scrapes of one client machine, until %s s; the last answer of all came at %s s, so what the server did between is not in them.", seconds(float64(last)/1e9), seconds(float64(end)/1e9)))
			}
		}
		return
	}
}

// beside takes up the server's figures of a whole run.
func (s *Summary) beside(m *scrape.Summary) {
	if m == nil {
		return
	}
	s.Server = server(m)
	v := s.Server
	note := func(when bool, format string, args ...any) {
		if when {
			s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(m.Restarted, "The server's counts fell during the run: it began anew, and its own figures are not of the whole run.")
	note(!m.Before || !m.After, "The server's metrics were not scraped both before and after the run: its own figures are of a part.")
	note(true, "The server's own figures (%s, %d scrapes) are of all its requests in the time of the run, warm-up included; its percentiles are known to a bucket of its histogram.", v.Engine, v.Scrapes)
	note(v.Blocks > 16, "The server caches prefixes in blocks of %d tokens: of a shared prefix it finds the whole blocks alone, so its hit rate lies below the expected one, which goes by the blocks of the trace.", v.Blocks)
	sent := s.Load.Planned + s.Load.Warmup + s.Load.Drain
	note(v.Requests != nil && *v.Requests > sent, "The server ended %s while this client sent %s: others used it, and its figures and latencies are not of this load alone.", plural(orNone(v.Requests), "request"), count(sent))
}

// besidePoint takes up the server's figures of one load point of several.
func (s *Summary) besidePoint(m *scrape.Summary) {
	if m == nil {
		return
	}
	s.Server = server(m)
	restarted := ""
	if m.Restarted {
		restarted = " Its counts fell in that time: it began anew."
	}
	s.Notes = append(s.Notes, fmt.Sprintf("The server's own figures (%s) are of all its requests in %s s of this load point, between the scrapes nearest to its beginning and end; requests that began under another load are among them.%s",
		s.Server.Engine, seconds(s.Server.Seconds), restarted))
}

func orNone(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// ends is the last planned instant or answer of each repetition.
func (m *Metrics) ends() map[int32]int64 {
	out := map[int32]int64{}
	for i := range m.samples {
		s := &m.samples[i]
		out[s.repeat] = max(out[s.repeat], s.sched, s.end)
	}
	return out
}

// sideServer sets what the servers say of each load point or run side by side,
// beside the client's own; nil where fewer than two have it.
func (r *Report) sideServer() [][]string {
	out := [][]string{{"Run", r.byRate(), "TTFT p50", "server's", "TTFT p99", "server's", "queue p99", "run/wait", "hits"}}
	for _, s := range r.ordered() {
		v := s.Server
		if v == nil {
			continue
		}
		ours := s.latency("ttft", "write_end")
		out = append(out, []string{s.Name, rateText(s.Load.OfferedPerS), or(ours.percentile(50), "too few"), v.TTFT.text(50), or(ours.percentile(99), "too few"), v.TTFT.text(99),
			v.Queue.text(99), orCount(v.Running) + "/" + orCount(v.Waiting), shareText(v.HitRate)})
	}
	if len(out) < 3 {
		return nil
	}
	return out
}

// sideServerTitle is the heading of sideServer.
func (r *Report) sideServerTitle() string { return "Server beside client (" + r.sideServerOf() + ")" }

func (r *Report) sideServerOf() string {
	return "ms; " + r.region() + "; TTFT from sending by the client, beside it the server's own, by its buckets; most running and waiting; prefix cache hits"
}

// narrow is text for a column of many.
func (w Within) narrow() string { return strings.ReplaceAll(w.text(), " to ", "–") }

// text is a percentile as bounds, 50 or 99.
func (t *ServerTimes) text(p float64) string {
	switch {
	case t == nil:
		return "n/a"
	case p == 50:
		return t.P50.narrow()
	}
	return t.P99.narrow()
}

func orCount(n *int64) string {
	if n == nil {
		return "n/a"
	}
	return count(*n)
}
