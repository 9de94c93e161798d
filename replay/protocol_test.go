package replay

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// byProtocol answers by HTTP/2, but for every third request.
type byProtocol struct {
	fake
	n atomic.Int64 // several goroutines prepare
}

func (b *byProtocol) Prepare(j Job) (Call, error) {
	c, err := b.fake.Prepare(j)
	if b.n.Add(1)%3 == 0 {
		return c, err
	}
	return overHTTP2{c}, err
}

type overHTTP2 struct{ Call }

func (o overHTTP2) Send(ctx context.Context, f *Flight) Result {
	r := o.Call.Send(ctx, f)
	r.Protocol = HTTP2
	return r
}

// run.json says by which protocol the planned requests went, and runs that are
// joined say it together.
func TestProtocolsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, err := NewPlan(shardTrace(9))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run")
		s := &byProtocol{fake: fake{class: OK, stamp: true}}
		if _, err := Record(t.Context(), path, Run{StartedAt: "2026-11-30T07:00:00Z"}, p, s, Options{Waiter: SleepWaiter{}, Beat: SleepWaiter{}, Later: SleepWaiter{}}, nil); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if got := d.Run.Endpoint.Protocols(); got != "HTTP/2 (all 6 requests that had a connection)" {
			t.Errorf("%q", got)
		}
		both := Run{Endpoint: Endpoint{Spoken: []Spoken{{HTTP2, 2}}}}
		both.count(d.Run)
		both.count(&Run{Endpoint: Endpoint{Spoken: []Spoken{{HTTP1, 4}}}})
		if got := both.Endpoint.Protocols(); got != "HTTP/1.1 (4 of 12 requests, 33.3 %), HTTP/2 (8 of 12 requests, 66.7 %)" {
			t.Errorf("%q", got)
		}
		if d.Run.Endpoint.Spoken[0].N != 6 {
			t.Error("a part was changed")
		}
	})
}
