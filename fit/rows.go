package fit

import (
	"fmt"

	"reprise/trace"
	"reprise/trace/spec"
)

// rows holds what lengths and arrivals need of every request, in columns: 16
// bytes a request and 4 for each kind of alias that is used. It is exact: rows
// added part by part are the rows of the whole.
type rows struct {
	n             int64
	timed         bool
	times         []int64
	input, output []int32 // −1 where the log does not say; no output of failed requests
	cut           []int32 // outputs that max_tokens cut
	models        codes
	adapters      codes
	estimated     bool
	clients       map[int32]*clientSums
	all           clientSums
	ssIn, ssOut   float64
}

// clientSums are sums over the requests of a client.
type clientSums struct{ n, in, out float64 }

// codes are names by row, as numbers. While no row has a name there are none.
type codes struct {
	names []string
	of    map[string]int32
	row   []int32 // 0 for none, else 1 + index into names
}

func (c *codes) add(name string, row int64) {
	if name == "" && c.row == nil {
		return
	}
	for int64(len(c.row)) < row {
		c.row = append(c.row, 0)
	}
	code := int32(0)
	if last := len(c.row) - 1; name != "" {
		if last >= 0 && c.row[last] > 0 && c.names[c.row[last]-1] == name {
			code = c.row[last]
		} else if code = c.of[name]; code == 0 {
			if c.of == nil {
				c.of = map[string]int32{}
			}
			c.names = append(c.names, name)
			code = int32(len(c.names))
			c.of[name] = code
		}
	}
	c.row = append(c.row, code)
}

// add takes the next requests in order of arrival.
func (r *rows) add(requests []trace.Request) error {
	for i := range requests {
		q := &requests[i]
		if q.Input.OK && q.Input.V < 0 || q.Output.OK && q.Output.V < 0 {
			return fmt.Errorf("row %d has a negative length", r.n)
		}
		if r.n == 0 {
			r.timed = q.T.OK
		}
		r.times = append(r.times, q.T.V)
		in, out := int32(-1), int32(-1)
		if q.Input.OK {
			in = q.Input.V
		}
		if q.Output.OK && !Failed(q) {
			out = q.Output.V
			if q.Finish == trace.FinishLength {
				r.cut = append(r.cut, out)
			}
		}
		r.input, r.output = append(r.input, in), append(r.output, out)
		r.models.add(q.Model, r.n)
		r.adapters.add(q.Adapter, r.n)
		r.estimated = r.estimated || q.From == trace.Estimated
		if q.Client.OK && in >= 0 && out >= 0 {
			r.client(q.Client.V, float64(in), float64(out))
		}
		r.n++
	}
	return nil
}

// room makes room for n rows, as far as that is worth it.
func (r *rows) room(n int64) {
	n = min(n, 1<<24)
	r.times, r.input, r.output = make([]int64, 0, n), make([]int32, 0, n), make([]int32, 0, n)
}

// last is the last arrival, 0 without rows.
func (r *rows) last() int64 {
	if len(r.times) == 0 {
		return 0
	}
	return r.times[len(r.times)-1]
}

// client adds a request to the sums of its client.
func (r *rows) client(id int32, in, out float64) {
	c := r.clients[id]
	if c == nil {
		if r.clients == nil {
			r.clients = map[int32]*clientSums{}
		}
		c = &clientSums{}
		r.clients[id] = c
	}
	for _, s := range []*clientSums{c, &r.all} {
		s.n, s.in, s.out = s.n+1, s.in+in, s.out+out
	}
	r.ssIn, r.ssOut = r.ssIn+float64(in*in), r.ssOut+float64(out*out)
}

// provenance is measured when every count was logged or counted, else
// estimated.
func (r *rows) provenance() spec.From {
	if r.estimated {
		return spec.Estimate
	}
	return spec.Measured
}

// known returns x without the values that the log does not say.
func known(x []int32) []int32 {
	return keepIf(x, func(i int) bool { return x[i] >= 0 })
}

// pairs returns the lengths of the requests that have both.
func (r *rows) pairs() (in, out []int32) {
	both := func(i int) bool { return r.input[i] >= 0 && r.output[i] >= 0 }
	return keepIf(r.input, both), keepIf(r.output, both)
}

// keepIf is x itself when all of it stays.
func keepIf(x []int32, keep func(i int) bool) []int32 {
	n := 0
	for i := range x {
		if keep(i) {
			n++
		}
	}
	if n == len(x) {
		return x
	}
	out := make([]int32, 0, n)
	for i, v := range x {
		if keep(i) {
			out = append(out, v)
		}
	}
	return out
}
