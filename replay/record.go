package replay

import (
	"encoding/binary"
	"errors"
	"math"

	"reprise/trace"
)

// Records are varints: the fields that a row always has, a bit mask of the
// optional ones that it has, those, and the lists. The order of the fields is
// that of the functions below, which encoder and decoder share.

func instants(q *Result) []*trace.Opt[int64] {
	return []*trace.Opt[int64]{&q.Dispatch, &q.ConnReady, &q.WriteEnd, &q.FirstByte, &q.FirstEvent, &q.FirstContent,
		&q.FirstAnswer, &q.LastContent, &q.End, &q.DNS, &q.TCP, &q.TLS, &q.RetryAfterMS, &q.ServerTime}
}

func tokens(q *Result) []*trace.Opt[int32] {
	return []*trace.Opt[int32]{&q.InAsked, &q.InUsage, &q.OutAsked, &q.OutUsage, &q.OutLocal, &q.Cached, &q.OutChars}
}

func appendResult(b []byte, q *Result) []byte {
	for _, v := range []int64{q.Row, int64(q.Point), int64(q.Repeat), int64(q.Phase), q.Sched, int64(q.Class),
		int64(q.NEvents), int64(q.NReads), int64(q.Finish)} {
		b = binary.AppendVarint(b, v)
	}
	var mask uint64
	var vals []byte
	bit := uint64(1)
	opt := func(ok bool, v int64) {
		if ok {
			mask |= bit
			vals = binary.AppendVarint(vals, v)
		}
		bit <<= 1
	}
	for _, o := range instants(q) {
		opt(o.OK, o.V)
	}
	for _, o := range tokens(q) {
		opt(o.OK, int64(o.V))
	}
	opt(q.HTTP.OK, int64(q.HTTP.V))
	opt(q.Reused.OK, truth(q.Reused.V))
	b = binary.AppendUvarint(b, mask)
	b = append(b, vals...)
	b = appendString(b, q.Endpoint)
	b = appendString(b, q.ServerRequestID)
	b = binary.AppendUvarint(b, uint64(len(q.Gaps)))
	for _, g := range q.Gaps {
		b = binary.AppendVarint(b, int64(g))
	}
	return b
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errRecord = errors.New("damaged spool: a record is not as this build writes it")

// cursor reads varints; after a fault everything reads as zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) int() int64 {
	v, n := binary.Varint(c.b)
	c.skip(n)
	return v
}

func (c *cursor) uint() uint64 {
	v, n := binary.Uvarint(c.b)
	c.skip(n)
	return v
}

func (c *cursor) skip(n int) {
	if n <= 0 || c.bad {
		c.b, c.bad = nil, true
		return
	}
	c.b = c.b[n:]
}

func (c *cursor) string() string {
	n := c.uint()
	if n > uint64(len(c.b)) {
		c.bad = true
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[n:]
	return s
}

func decodeResult(rec []byte) (Result, error) {
	var q Result
	c := &cursor{b: rec}
	q.Row, q.Point, q.Repeat = c.int(), int32(c.int()), int32(c.int())
	phase := c.int()
	q.Sched = c.int()
	class := c.int()
	q.NEvents, q.NReads = int32(c.int()), int32(c.int())
	finish := c.int()
	if !within(phase, len(phaseNames)) || !within(class, int(classes)) || !within(finish, len(trace.FinishNames())) {
		return q, errRecord
	}
	q.Phase, q.Class, q.Finish = Phase(phase), Class(class), trace.Finish(finish)
	mask := c.uint()
	next := func() (bool, int64) {
		ok := mask&1 == 1
		mask >>= 1
		if !ok {
			return false, 0
		}
		return true, c.int()
	}
	for _, o := range instants(&q) {
		o.OK, o.V = next()
	}
	for _, o := range tokens(&q) {
		ok, v := next()
		o.OK, o.V = ok, int32(v)
	}
	ok, v := next()
	q.HTTP = trace.Opt[int16]{V: int16(v), OK: ok}
	ok, v = next()
	q.Reused = trace.Opt[bool]{V: v == 1, OK: ok}
	q.Endpoint, q.ServerRequestID = c.string(), c.string()
	n := c.uint()
	if n > uint64(len(c.b)) { // a gap takes a byte at least
		return q, errRecord
	}
	for range n {
		q.Gaps = append(q.Gaps, int32(c.int()))
	}
	if c.bad || len(c.b) > 0 {
		return q, errRecord
	}
	return q, nil
}

func within(v int64, n int) bool { return v >= 0 && v < int64(n) }

func healthInts(h *HealthRow) []*int64 {
	return []*int64{&h.TNS, &h.Sent, &h.InFlight, &h.LagP50US, &h.LagP99US, &h.LagMaxUS, &h.KernelP99US, &h.HeartP99US, &h.GCCycles, &h.Throttled,
		&h.HeartMaxUS, &h.Files, &h.FileLimit, &h.Ports, &h.PortLimit}
}

func appendHealth(b []byte, h *HealthRow) []byte {
	for _, v := range healthInts(h) {
		b = binary.AppendVarint(b, *v)
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.CPU))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(h.Steal))
}

func decodeHealth(rec []byte) (HealthRow, error) {
	var h HealthRow
	c := &cursor{b: rec}
	for _, p := range healthInts(&h) {
		*p = c.int()
	}
	h.CPU, h.Steal = c.float(), c.float()
	return h, c.end()
}

func (c *cursor) float() float64 {
	if len(c.b) < 8 {
		c.bad = true
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(c.b))
	c.b = c.b[8:]
	return v
}

func (c *cursor) end() error {
	if c.bad || len(c.b) > 0 {
		return errRecord
	}
	return nil
}

func appendServer(b []byte, s *ServerRow) []byte {
	b = binary.AppendVarint(b, s.TNS)
	b = appendString(appendString(b, s.Name), s.Labels)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Value))
}

func decodeServer(rec []byte) (ServerRow, error) {
	c := &cursor{b: rec}
	s := ServerRow{TNS: c.int(), Name: c.string(), Labels: c.string(), Value: c.float()}
	return s, c.end()
}
