package mock

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"reprise/replay/mock/engine"
)

// faults decides which requests and connections something goes wrong with. What
// it decides depends only on the seed, a number and a time.
type faults struct {
	list   []Fault
	stages []stage // of the list
	seed   uint64

	generating, other, conns atomic.Int64 // how many there were
}

// set takes a list that has been validated.
func (f *faults) set(list []Fault, seed uint64) {
	f.list, f.seed = list, seed
	for i := range list {
		if kind, err := list[i].kind(); err == nil { // it is, when validated
			f.stages = append(f.stages, kind.stage)
		}
	}
}

// verdict is what the faults make of a request. The zero value is none.
type verdict struct {
	delay time.Duration // before it is taken up
	stop  *Fault        // what comes in place of an answer
	stall *Fault
	end   *Fault // what ends the body
	bad   *Fault // an event that is no JSON
	usage int32  // added to completion_tokens

	noDone, noUsage, gzip, goaway bool
}

// judge counts a request that arrived at a time, and decides. Requests that
// generate are numbered from 1 in order of arrival, and all others apart from
// them; the mock's own pages are not counted.
func (f *faults) judge(path string, at time.Duration) verdict {
	if len(f.list) == 0 || strings.HasPrefix(path, "/mock/") {
		return verdict{}
	}
	count := &f.other
	if generates(path) {
		count = &f.generating
	}
	return f.decide(path, count.Add(1), at)
}

// decide is the verdict on request number n of a path that arrived at a time.
func (f *faults) decide(path string, n int64, at time.Duration) verdict {
	var v verdict
	for i := range f.list {
		k := &f.list[i]
		if k.onPath(path) && f.takes(i, n, at) {
			v.add(k, f.stages[i])
		}
	}
	return v
}

// takes tells whether fault i holds for number n at a time.
func (f *faults) takes(i int, n int64, at time.Duration) bool {
	k := &f.list[i]
	if !k.N.hold(n) || !k.T.holds(at, k.Every.D()) {
		return false
	}
	const faultStream = 0x6661756c74 // one random stream per purpose
	draw := engine.Mix(engine.Mix(engine.Mix(f.seed^faultStream)+uint64(i)) + uint64(n))
	return k.P == 0 || float64(draw>>11)/(1<<53) < k.P
}

// add puts a fault into effect beside those before it.
func (v *verdict) add(f *Fault, at stage) {
	first := func(p **Fault) {
		if *p == nil {
			*p = f
		}
	}
	switch {
	case at == onConnect:
	case at == onAnswer:
		first(&v.stop)
	case f.Kind == "delay":
		v.delay = min(v.delay+f.For.D(), math.MaxInt64/4)
	case f.Kind == "stall":
		first(&v.stall)
	case f.Kind == "bad_event":
		first(&v.bad)
	case at == onBody:
		first(&v.end)
	case f.Kind == "no_done":
		v.noDone = true
	case f.Kind == "no_usage":
		v.noUsage = true
	case f.Kind == "gzip":
		v.gzip = true
	case f.Kind == "goaway":
		v.goaway = true
	case f.Kind == "wrong_usage" && f.Tokens == 0:
		v.usage += 7
	case f.Kind == "wrong_usage":
		v.usage += int32(f.Tokens)
	}
}

// touchesBody tells whether the body is not what it would have been.
func (v *verdict) touchesBody() bool {
	return v.stall != nil || v.end != nil || v.bad != nil || v.usage != 0 || v.noDone || v.noUsage || v.gzip
}

// connection counts a connection and decides when it is first read and whether
// its TLS handshake fails.
func (f *faults) connection(at time.Duration) (wait time.Duration, broken bool) {
	return f.decideConn(f.conns.Add(1), at)
}

func (f *faults) decideConn(n int64, at time.Duration) (wait time.Duration, broken bool) {
	for i := range f.list {
		switch k := &f.list[i]; {
		case k.Kind == "slow_accept" && f.takes(i, n, at):
			wait += k.For.D()
		case k.Kind == "tls_failure" && f.takes(i, n, at):
			broken = true
		}
	}
	return wait, broken
}

// onConns tells whether connections need to be watched at all.
func (f *faults) onConns() bool {
	for i := range f.list {
		if k := f.list[i].Kind; k == "slow_accept" || k == "tls_failure" {
			return true
		}
	}
	return false
}
