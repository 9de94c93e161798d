package ingest

import (
	"runtime"
	"sync"

	"reprise/ingest/rows"
	"reprise/ingest/source"
	"reprise/ingest/textfile"
)

// maxAhead is how many bytes of rows are read ahead. A chunk with more, which is
// one of a huge row, is worked on alone, so that two such rows are never in
// memory together.
const maxAhead = 8 << 20

// crew reads a file in chunks, has several goroutines make records of them, and
// hands the records on in the order of the file. Reading and handing on are done
// by the goroutine that called: what is learned from row to row, such as nested
// spans, is learned there. What the goroutines count is added up at the end.
type crew struct {
	log     *Log
	taken   *taken
	hand    *hander
	from    textfile.Chunked
	own     worker // of the calling goroutine
	workers []*worker
	most    int // workers
	jobs    chan *job
	queue   []*job // being worked on, the first one first
	free    []*job
	bytes   int // in the queue
	last    rows.Pos
	group   sync.WaitGroup
}

// spread is rows for a file whose rows can be read as text first.
func (l *Log) spread(from textfile.Chunked, t *taken, hand *hander) (last rows.Pos, more bool, err error) {
	c := &crew{log: l, taken: t, hand: hand, from: from, most: runtime.GOMAXPROCS(0)}
	hand.covered = hand.nest == nil
	c.own = worker{hand.builder, from.Parser(), hand.covered}
	c.jobs = make(chan *job, c.limit())
	defer c.end()
	for err == nil {
		next := c.next()
		next.Fill(from)
		err = next.Err
		if !c.pass(next) {
			return c.last, false, nil
		}
	}
	if !c.land(0, 0) {
		return c.last, false, nil
	}
	if source.IsEnd(err) {
		err = nil
	}
	return c.last, hand.end(), err
}

// limit is how many chunks may be in the queue.
func (c *crew) limit() int { return 2 * c.most }

// next is a chunk to fill.
func (c *crew) next() *job {
	if n := len(c.free); n > 0 {
		next := c.free[n-1]
		c.free = c.free[:n-1]
		return next
	}
	return &job{done: make(chan struct{}, 1)}
}

// pass gives a chunk to the workers, and hands on what they have ready. A file
// of one chunk, and a huge row, are not worth their while.
func (c *crew) pass(next *job) bool {
	alone := c.most == 1 || next.Size() > maxAhead || (next.Err != nil && len(c.workers) == 0)
	if alone {
		return c.land(0, 0) && c.own.rows(next, c.hand.take) && c.deliver(next)
	}
	if !c.land(c.limit()-1, maxAhead-next.Size()) {
		return false
	}
	if len(c.workers) < c.most {
		c.hire()
	}
	c.bytes += next.Size()
	c.queue = append(c.queue, next)
	c.jobs <- next // has room for all there are
	return true
}

func (c *crew) hire() {
	w := &worker{c.log.builder(c.taken), c.from.Parser(), c.hand.covered}
	c.workers = append(c.workers, w)
	c.group.Go(func() {
		for next := range c.jobs {
			w.work(next)
			next.done <- struct{}{}
		}
	})
}

// land hands on the first chunks of the queue until no more than so many, and so
// many bytes, are left. It reports whether to go on.
func (c *crew) land(chunks, bytes int) bool {
	for len(c.queue) > chunks || (len(c.queue) > 0 && c.bytes > bytes) {
		next := c.queue[0]
		<-next.done
		c.queue = c.queue[1:]
		c.bytes -= next.Size()
		if !c.deliver(next) {
			return false
		}
	}
	return true
}

// deliver hands on the records of a chunk.
func (c *crew) deliver(next *job) bool {
	for _, pos := range next.odd {
		c.hand.builder.notes.text.add(pos)
	}
	if n := len(next.Rows); n > 0 {
		c.last = next.Rows[n-1].Pos
	}
	for i := range next.out {
		if o := &next.out[i]; !c.hand.take(&o.record, o.bad) {
			return false
		}
	}
	clear(next.out)
	next.out, next.odd = next.out[:0], next.odd[:0]
	c.free = append(c.free, next)
	return true
}

// end waits for the workers and takes over what they counted.
func (c *crew) end() {
	close(c.jobs)
	c.group.Wait()
	for _, w := range c.workers {
		c.hand.builder.merge(w.build)
	}
}
