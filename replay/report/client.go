package report

import (
	"fmt"

	"reprise/replay"
)

// The bounds of the client verdict (replay.ClientVerdict), ns.
const (
	cleanLag  = 1_000_000
	usableLag = 5_000_000
)

// client gives the run's own verdict on its client, with the send lag of the
// requests at hand. A run that was killed has no verdict; it is then made from
// the lag alone.
func client(run *replay.Run, lag sorted) Client {
	c := Client{Verdict: run.Verdict.Verdict, Reason: run.Verdict.Reason, LagN: lag.len(), Late: lag.len() - lag.within(usableLag),
		LagP50MS: msAt(lag, 50), LagP99MS: msAt(lag, 99), LagMaxMS: msAt(lag, 100), Resent: run.Resent, Lacking: run.Verdict.Lacking,
		KernelP99MS: run.Verdict.KernelP99MS, HeartP99MS: run.Verdict.HeartP99MS, HeartMaxMS: run.Verdict.HeartMaxMS,
		Shared: run.Verdict.Shared, SharedAlone: run.Verdict.SharedAlone}
	if h := run.Headroom; h != nil {
		c.HeadroomText, c.HeadroomWhy = h.Short(), h.Why()
		if h.Times > 0 {
			c.Headroom = &h.Times
		}
	}
	if c.Verdict == "" || c.Verdict == replay.NoVerdict {
		c.Verdict, c.Reason = lagVerdict(lag)
	}
	return c
}

func lagVerdict(lag sorted) (verdict, reason string) {
	v, ok := at(lag, 99)
	if !ok {
		return replay.NoVerdict, "nothing was sent"
	}
	reason = fmt.Sprintf("p99 send lag %s, by the requests alone", msText(*ms(v)))
	switch {
	case v <= cleanLag:
		return replay.Clean, reason
	case v <= usableLag:
		return replay.Usable, reason
	}
	return replay.ClientLimited, reason
}

// spare takes the run's bad verdict off the load points whose own requests
// left on time, when another point explains it.
func spare(points []*Summary) {
	explained := false
	for _, s := range points {
		explained = explained || s.Client.Withheld() && *orZero(s.Client.LagP99MS)*1e6 > usableLag
	}
	if !explained || len(points) < 2 {
		return
	}
	for _, s := range points {
		if p99 := *orZero(s.Client.LagP99MS) * 1e6; s.Client.Withheld() && s.Client.Lacking == 0 && p99 <= usableLag {
			s.Client.Verdict = replay.Usable
			s.Client.Reason = "requests of this load point left on time; the client was late at another point of the run"
		}
	}
}

func orZero(v *float64) *float64 {
	if v == nil {
		return new(float64)
	}
	return v
}

// health returns the worst of each reading.
func health(rows []replay.HealthRow) *Health {
	if len(rows) == 0 {
		return nil
	}
	h := &Health{Seconds: len(rows)}
	kernel, heart, throttled, steal := int64(-1), int64(-1), int64(-1), -1.0
	h.Files, h.Ports = nearest(rows, func(r *replay.HealthRow) (int64, int64) { return r.Files, r.FileLimit }), nearest(rows, func(r *replay.HealthRow) (int64, int64) { return r.Ports, r.PortLimit })
	for _, r := range rows {
		kernel, heart = max(kernel, r.KernelP99US), max(heart, r.HeartP99US)
		h.CPU = max(h.CPU, r.CPU)
		h.GC += r.GCCycles
		if r.Throttled >= 0 {
			throttled = max(throttled, 0) + r.Throttled
		}
		steal = max(steal, r.Steal)
	}
	if kernel >= 0 {
		h.KernelMS = ms(kernel * 1000)
	}
	if heart >= 0 {
		h.HeartMS = ms(heart * 1000)
	}
	if throttled >= 0 {
		h.Throttled = &throttled
	}
	if steal >= 0 {
		h.Steal = &steal
	}
	return h
}

// nearest is the most of something that there is a limit on, nil where that is
// not known.
func nearest(rows []replay.HealthRow, of func(*replay.HealthRow) (used, limit int64)) *Used {
	var u *Used
	for i := range rows {
		used, limit := of(&rows[i])
		if limit > 0 && used >= 0 && (u == nil || used > u.Most) {
			u = &Used{Most: used, Limit: limit}
		}
	}
	return u
}
