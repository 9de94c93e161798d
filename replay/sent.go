package replay

import (
	"slices"
	"sync"

	"reprise/trace"
)

// SentHits are the prompt tokens of the measured requests of a load point that
// were sent, and how many of them a prefix cache without bounds, empty at the
// start, could serve: those of the leading blocks that a request sent before
// had, whatever its point or phase.
type SentHits struct {
	Point  int32 `json:"point"`
	Hit    int64 `json:"expected_hit_tokens"`
	Prompt int64 `json:"prompt_tokens"`
}

// rateOf is the hit rate over load points.
func rateOf(points []SentHits) float64 {
	var hit, all int64
	for _, p := range points {
		hit, all = hit+p.Hit, all+p.Prompt
	}
	if all == 0 {
		return 0
	}
	return float64(hit) / float64(all)
}

// addHits adds what was sent at a load point to a list in order of the points.
func addHits(points []SentHits, more SentHits) []SentHits {
	i, there := slices.BinarySearchFunc(points, more.Point, func(p SentHits, point int32) int { return int(p.Point) - int(point) })
	if !there {
		return slices.Insert(points, i, more)
	}
	points[i].Hit += more.Hit
	points[i].Prompt += more.Prompt
	return points
}

// sentHits counts hits as requests are sent. The passes of a trace share nothing
// with one another (Plan.dress), so each has a cache of its own, a bit for a
// block, which is let go with the pass's last request. A nil one counts nothing.
type sentHits struct {
	mu     sync.Mutex
	size   int64 // tokens of a block
	keep   bool  // passes share
	rows   int   // of a pass
	passes map[int32]*sentPass
	points []SentHits
}

type sentPass struct {
	cache *trace.Hits
	left  int // requests that may yet be sent
}

// sending counts what p sends; nil where that is not to be told: of a plan put
// together by hand, and of one machine's part, whose cache has the others'
// prompts too.
func (p *Plan) sending() *sentHits {
	if p.blockTokens <= 0 || p.part {
		return nil
	}
	return p.counting(p.blockTokens)
}

func (p *Plan) counting(blockTokens int) *sentHits {
	return &sentHits{size: int64(blockTokens), keep: p.Keep, rows: p.rows, passes: map[int32]*sentPass{}}
}

// pass is that of a job; s.mu is held.
func (s *sentHits) pass(j *Job) *sentPass {
	key := j.Pass
	if s.keep {
		key = 0
	}
	if s.passes[key] == nil {
		s.passes[key] = &sentPass{cache: trace.NewHits(), left: s.rows}
	}
	return s.passes[key]
}

// flown counts the job of a flight whose bytes were handed over, once.
func (s *sentHits) flown(f *Flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.counted {
		s.sent(f.job)
	}
	f.counted = true
}

// sent counts a job; s.mu is held, or nobody else has s.
func (s *sentHits) sent(j *Job) {
	in := int64(j.Request.Input.Or(0))
	hit := min(int64(s.pass(j).cache.Add(j.Request.Blocks))*s.size, in)
	if j.Phase == Measure {
		s.points = addHits(s.points, SentHits{Point: j.Point, Hit: hit, Prompt: in})
	}
}

// over takes a job that will not be sent any more, whether or not it was.
func (s *sentHits) over(j *Job) {
	if s == nil || s.keep {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pass(j)
	if p.left--; p.left == 0 {
		delete(s.passes, j.Pass)
	}
}

// soFar is what was sent until now.
func (s *sentHits) soFar() []SentHits {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.points)
}

// ExpectedHitRate returns the share of prompt tokens that an unbounded prefix
// cache, empty at the start, could serve: the leading blocks of each prompt
// that an earlier row had, times the block size, over all prompt tokens.
func ExpectedHitRate(t *trace.Trace) float64 {
	p := Plan{}
	s := p.counting(t.Header.BlockTokens)
	for i := range t.Requests {
		s.sent(&Job{Phase: Measure, Request: t.Requests[i]})
	}
	return rateOf(s.points)
}

// ExpectedHits is ExpectedHitRate of what the plan has to send, in blocks of so
// many tokens: a part of a trace, or several passes, without the requests of a
// warm-up, which fill the cache alone. Of a closed loop, whose levels end when
// they end, it is that of its trace. What was really sent is in
// CacheMode.Sent once the run is over.
func (p *Plan) ExpectedHits(blockTokens int) float64 {
	s := p.counting(blockTokens)
	for i := range p.Jobs {
		s.sent(&p.Jobs[i])
		s.over(&p.Jobs[i])
	}
	return rateOf(s.points)
}

// take puts what was sent into a run's account; a cache that is kept out of the
// run expects nothing.
func (c *CacheMode) take(sent []SentHits) {
	if c.Mode != CacheNone && len(sent) > 0 {
		c.Sent, c.ExpectedHitRate = sent, rateOf(sent)
	}
}

// Expected is the hit rate expected of a load point: of what was sent at it,
// where that was kept.
func (c *CacheMode) Expected(point int32) float64 {
	for _, s := range c.Sent {
		if s.Point == point {
			return rateOf([]SentHits{s})
		}
	}
	return c.ExpectedHitRate
}

// join adds what a further repetition sent; where one of them did not keep
// that, the rate is of those before it. point, unless negative, is the load
// point of all that a repetition sent.
func (c *CacheMode) join(more []SentHits, point int32, first bool) {
	switch {
	case first:
		c.Sent = nil
	case len(c.Sent) == 0 || len(more) == 0:
		c.Sent = nil
		return
	}
	for _, s := range more {
		if point >= 0 {
			s.Point = point
		}
		c.Sent = addHits(c.Sent, s)
	}
	if len(c.Sent) > 0 {
		c.ExpectedHitRate = rateOf(c.Sent)
	}
}
