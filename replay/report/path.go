package report

import (
	"fmt"

	"reprise/replay"
)

// Path is the way to the server, apart from the server's own time.
type Path struct {
	RTTMS      *float64 `json:"tcp_handshake_p50_ms"` // a round trip, by handshakes; nil when none was seen
	RTTN       int64    `json:"tcp_handshakes"`
	OneTokenMS *float64 `json:"one_token_ms"` // a request for one token on an idle path, before the run
	Fresh      int64    `json:"requests_on_new_connections"`
	Of         int64    `json:"requests_on_connections"`
	FreshTTFT  *float64 `json:"handshake_p50_ms"` // DNS, TCP and TLS inside those requests' TTFT
}

// pathSums gather connections of the measured requests.
type pathSums struct {
	of         int64
	tcp, shake sorted // ns, of new connections
}

func (p *pathSums) add(r *replay.Result) {
	if !r.Reused.OK {
		return
	}
	p.of++
	if r.Reused.V {
		return
	}
	p.shake = append(p.shake, (r.DNS.Or(0)+r.TCP.Or(0)+r.TLS.Or(0))*1000)
	if r.TCP.OK {
		p.tcp = append(p.tcp, r.TCP.V*1000)
	}
}

func (p *pathSums) merge(o *pathSums) {
	p.of += o.of
	p.tcp, p.shake = append(p.tcp, o.tcp...), append(p.shake, o.shake...)
}

// finish joins what the requests saw with what was measured before the run.
func (p *pathSums) finish(run *replay.Run) Path {
	tcp, shake := append(sorted(nil), p.tcp...), append(sorted(nil), p.shake...)
	sortedOf(tcp)
	sortedOf(shake)
	out := Path{Fresh: shake.len(), Of: p.of, RTTN: tcp.len(), RTTMS: msAt(tcp, 50), FreshTTFT: msAt(shake, 50)}
	if run.Path != nil {
		if run.Path.Handshakes > 0 {
			out.RTTMS, out.RTTN = &run.Path.HandshakeMS, int64(run.Path.Handshakes)
		}
		if run.Path.OneTokenMS > 0 {
			out.OneTokenMS = &run.Path.OneTokenMS
		}
	}
	return out
}

func (s *Summary) pathCells(add func(name, value, note string)) {
	p := &s.Path
	if p.RTTMS != nil {
		add("Round trip, ms", msOr(p.RTTMS), "median of "+plural(p.RTTN, "TCP handshake"))
	}
	if p.OneTokenMS != nil {
		add("One token, ms", msOr(p.OneTokenMS), "a request alone, before the run")
	}
	if p.Of > 0 {
		add("On a new connection", shareText(ratio(p.Fresh, p.Of)), fmt.Sprintf("%s of %s requests", count(p.Fresh), count(p.Of)))
	}
}

func notePath(add func(bool, string, ...any), s *Summary) {
	p := &s.Path
	add(p.Fresh > 0, "%s of %d (%s) opened a connection: their handshakes (median %s) are inside TTFT and E2E %s, and outside those from sending.",
		plural(p.Fresh, "request"), p.Of, shareText(ratio(p.Fresh, p.Of)), msOr(p.FreshTTFT)+" ms", clockName("sched", s.Source.Mode == replay.ClosedLoop))
}
