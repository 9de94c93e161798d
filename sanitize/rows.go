package sanitize

import (
	"context"
	"errors"
	"io"
	"iter"

	"reprise/sanitize/spill"
	"reprise/trace"
)

// Room is what a pass may take: memory for rows and numbers, and a folder for
// what does not fit. With a Memory of 0 it is DefaultMemory.
type Room struct {
	Dir      string           // of temporary files; empty for the system's
	Memory   int              // bytes
	Progress func(rows int64) // called now and then with the rows read so far; nil for none
}

// DefaultMemory keeps the whole process below 512 MiB, tokenizer and writing of
// the trace included.
const DefaultMemory = 96 << 20

// Rows are the requests of a log, accounted for and sorted, before they are
// numbered. Requests numbers them; Close frees memory and files.
type Rows struct {
	Header  trace.Header // lacks Tool, and Sources where the log is not known
	Account *Account

	space   *spill.Space
	sorter  *spill.Sorter
	out     *spill.Sorter // rows to leave out; nil for none
	clock   clock
	numbers *numbers
	names   namesOf
	keyed   *keyed // nil when nobody asked
	used    bool
}

// Close frees what the rows hold. It may be called at any time and twice.
func (r *Rows) Close() error { return r.space.Close() }

// Timed says whether the requests have arrival times.
func (r *Rows) Timed() bool { return r.clock.timed }

// finish works out everything but the numbers themselves: the clock, the rows
// that are left out, the counts.
func (r *Rows) finish(ctx context.Context, c *collector, p Policy, room Room) error {
	r.clock = c.times.clock(c.account)
	r.sorter = c.sorter
	if err := c.sorter.Finish(); err != nil {
		return err
	}
	if !p.KeepDuplicates && c.repeatsNeeded(r.clock) {
		if err := r.findRepeats(ctx, c, room); err != nil {
			return err
		}
	}
	a := c.account
	a.Kept = a.Read - total(a.Rejected) - total(a.Excluded)
	var err error
	if r.numbers, err = newNumbers(c, a.Kept, p, room, r.space); err != nil {
		return err
	}
	if !r.numbers.told {
		return nil
	}
	if err := r.each(ctx, func(q *row) error { return r.numbers.tell(q) }); err != nil {
		return err
	}
	return r.numbers.finish(ctx)
}

func total[K comparable](m map[K]int64) int64 {
	var n int64
	for _, v := range m {
		n += v
	}
	return n
}

// findRepeats makes the list of rows to leave out, and counts them.
func (r *Rows) findRepeats(ctx context.Context, c *collector, room Room) error {
	out := spill.NewSorter(r.space, room.Memory/8)
	s := newRepeats(c, r.clock, out)
	p := pass{reader: r.sorter.Reader(), clock: r.clock}
	for {
		q, err := p.next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = s.row(p.rank-1, q, p.rest)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Finish(); err != nil {
		return err
	}
	r.out = out
	if err := r.countRepeats(c.account); err != nil {
		return err
	}
	err := r.each(ctx, func(q *row) error { // time begins with the first request that stays
		r.clock.zero = q.req.T.V
		return errStopped
	})
	if err == errStopped {
		return nil
	}
	return err
}

func (r *Rows) countRepeats(a *Account) error {
	l, err := newLeftOut(r.out)
	for err == nil && l.rank != 1<<64-1 {
		rank, rule := l.rank, l.rule
		if err = l.advance(); l.rank != rank { // twice where two rules hold
			a.Excluded[rule]++
		}
	}
	return err
}

// pass goes over the rows that the clock fits, in order of arrival.
type pass struct {
	reader *spill.Reader
	clock  clock
	rank   uint64 // of the next row
	row    row
	rest   []byte // of the last row, without its head
	n      int
}

// next returns the next row, valid until the next call.
func (p *pass) next(ctx context.Context) (*row, error) {
	for {
		_, body, err := p.reader.Next()
		if err != nil {
			return nil, err
		}
		if p.n++; p.n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if p.rest, err = p.row.decode(body); err != nil {
			return nil, err
		}
		if p.clock.fits(&p.row) {
			p.rank++
			return &p.row, nil
		}
	}
}

// each calls do with the rows that are kept, in order of arrival.
func (r *Rows) each(ctx context.Context, do func(*row) error) error {
	l, err := newLeftOut(r.out)
	if err != nil {
		return err
	}
	p := pass{reader: r.sorter.Reader(), clock: r.clock}
	for {
		q, err := p.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		_, out, err := l.has(p.rank - 1)
		if err == nil && !out {
			err = do(q)
		}
		if err != nil {
			return err
		}
	}
}

// errStopped ends a pass whose consumer has enough.
var errStopped = errors.New("stopped")

// Requests yields the requests in order of arrival, in the form that trace.Write
// takes. It can be ranged over once. A context that ends is an error.
func (r *Rows) Requests(ctx context.Context) iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		if r.used {
			yield(trace.Request{}, errors.New("the requests of a log can be read only once"))
			return
		}
		r.used = true
		var two comparing
		err := r.each(ctx, func(w *row) error {
			q := w.req
			two.add(&w.two)
			if r.clock.timed {
				q.T.V -= r.clock.zero
			}
			err := r.numbers.request(&q, w)
			if err == nil && r.keyed != nil {
				err = r.keyed.request(&q, w)
			}
			if err != nil {
				return err
			}
			if !yield(q, nil) {
				return errStopped
			}
			return nil
		})
		if c := r.Header.Counting; c != nil && c.Also != nil {
			two.fill(c.Also)
		}
		if err != nil && err != errStopped {
			yield(trace.Request{}, err)
		}
	}
}
