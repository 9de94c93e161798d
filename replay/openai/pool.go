package openai

import (
	"context"
	"sync"
	"time"
)

// pool keeps idle connections, the last used on top, and has no limit on how
// many there are. A request that finds none opens one, or gets the next that
// becomes idle while it waits for its turn to open.
type pool struct {
	max     int           // opened at one time
	keep    time.Duration // a connection unused for so long is closed
	clock   *stamps
	open    func(context.Context, *trip) (*rawConn, error)
	mu      sync.Mutex
	idle    []*rawConn
	waiting []chan *rawConn // in order; nil says that it is a waiter's turn to open
	opening int
	sweeper *time.Timer // nil while nothing is idle
	closed  bool
}

// ready returns an idle connection that may be used, nil when there is none.
func (p *pool) ready() *rawConn {
	for {
		p.mu.Lock()
		if len(p.idle) == 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.pop()
		p.mu.Unlock()
		if p.fresh(c) {
			return c
		}
		c.close()
	}
}

// get returns a connection that no other request has, opening one if need be;
// anew: one that has served nobody.
func (p *pool) get(ctx context.Context, t *trip, anew bool) (*rawConn, error) {
	for {
		p.mu.Lock()
		if !anew && len(p.idle) > 0 {
			c := p.pop() // it has just come back
			p.mu.Unlock()
			return c, nil
		}
		if p.opening < p.max {
			p.opening++
			p.mu.Unlock()
			return p.make(ctx, t)
		}
		turn := make(chan *rawConn, 1)
		p.waiting = append(p.waiting, turn)
		p.mu.Unlock()
		select {
		case c := <-turn:
			if c == nil {
				return p.make(ctx, t)
			}
			if !anew {
				return c, nil
			}
			p.put(c)
		case <-ctx.Done():
			p.leave(turn)
			return nil, ctx.Err()
		}
	}
}

func (p *pool) pop() *rawConn {
	last := len(p.idle) - 1
	c := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return c
}

// fresh reports whether an idle connection may be used.
func (p *pool) fresh(c *rawConn) bool {
	return p.clock.now()-c.since < int64(p.keep) && c.alive()
}

// make opens a connection; the turn has been taken.
func (p *pool) make(ctx context.Context, t *trip) (*rawConn, error) {
	var c *rawConn
	var err error
	aside(func() { c, err = p.open(ctx, t) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turnOver()
	return c, err
}

// turnOver hands the turn to open to the first who waits.
func (p *pool) turnOver() {
	if len(p.waiting) == 0 {
		p.opening--
		return
	}
	p.waiting[0] <- nil
	p.waiting = p.waiting[1:]
}

// leave ends a wait, and passes on what came meanwhile.
func (p *pool) leave(turn chan *rawConn) {
	p.mu.Lock()
	for i, w := range p.waiting {
		if w == turn {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			p.mu.Unlock()
			return
		}
	}
	c := <-turn
	if c == nil {
		p.turnOver()
	}
	p.mu.Unlock()
	if c != nil {
		p.put(c)
	}
}

// put takes a connection back, or gives it to the first who waits.
func (p *pool) put(c *rawConn) {
	c.since, c.kept = p.clock.now(), true
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		c.close()
	case len(p.waiting) > 0:
		p.waiting[0] <- c
		p.waiting = p.waiting[1:]
	default:
		p.idle = append(p.idle, c)
		if p.sweeper == nil && p.keep > 0 {
			p.sweeper = time.AfterFunc(p.keep, p.sweep)
		}
	}
}

// sweep closes what was unused for too long, at the bottom of the stack.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, old := p.clock.now(), 0
	for old < len(p.idle) && now-p.idle[old].since >= int64(p.keep) {
		p.idle[old].close()
		old++
	}
	p.idle = append([]*rawConn(nil), p.idle[old:]...)
	p.sweeper = nil
	if len(p.idle) > 0 && !p.closed {
		p.sweeper = time.AfterFunc(p.keep-time.Duration(now-p.idle[0].since), p.sweep)
	}
}

// close closes the idle connections. Those in use are closed as they come back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}
