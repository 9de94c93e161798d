package engine

import (
	"container/heap"
	"time"
)

// plainModel gives every request the same exact schedule, whatever the load.
type plainModel struct {
	law   Plain
	from  time.Duration // end of the cold start
	queue dueQueue
	one   [1]*seq
}

func (m *plainModel) add(s *seq) {
	s.started = max(s.arrived, m.from)
	heap.Push(&m.queue, due{at: m.instant(s, 0), seq: s})
}

// instant is when token k of a sequence leaves.
func (m *plainModel) instant(s *seq, k int32) time.Duration {
	return s.started + micros(m.law.TTFT+float64(m.law.ITL*float64(k)))
}

func (m *plainModel) complete(now time.Duration) ([]*seq, time.Duration) {
	if len(m.queue) == 0 || m.queue[0].at > now {
		return nil, 0
	}
	d := &m.queue[0]
	at := d.at
	m.one[0] = d.seq
	d.at = m.instant(d.seq, d.seq.out+1)
	heap.Fix(&m.queue, 0)
	return m.one[:], at
}

func (m *plainModel) remove(s *seq) { heap.Remove(&m.queue, s.index) }

func (m *plainModel) schedule(time.Duration) (time.Duration, bool) {
	if len(m.queue) == 0 {
		return 0, false
	}
	return m.queue[0].at, true
}

func (m *plainModel) open(at time.Duration) { m.from = at }

func (m *plainModel) holds([]uint64) int { return 0 }

func (m *plainModel) gauges() (int, int, float64) { return len(m.queue), 0, 0 }

// due is a sequence and the instant of its next token.
type due struct {
	at  time.Duration
	seq *seq
}

// dueQueue is a heap by instant, then by id so that ties have one order.
type dueQueue []due

func (q dueQueue) Len() int { return len(q) }
func (q dueQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq.id < q[j].seq.id
}
func (q dueQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].seq.index, q[j].seq.index = i, j
}
func (q *dueQueue) Push(x any) {
	d := x.(due)
	d.seq.index = len(*q)
	*q = append(*q, d)
}
func (q *dueQueue) Pop() any {
	d := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return d
}
