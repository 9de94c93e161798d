package openai

import "time"

// tick is how long a busy shard lets segments gather. Only with the kernel's
// stamps, which do not care. Segments of one stream that are as close are read
// as one, with the stamp of the last: so it is short against any gap between
// tokens.
const tick = 240 * time.Microsecond // and up to 50 of the kernel's slack

// pace decides whether reads are worth gathering: many events, stamped by the
// kernel, and few streams so fast that their segments would be read as one.
type pace struct {
	window        int64   // ns between decisions
	above         float64 // events a second
	from          int64
	reads, merged int
	unstamped     bool // the kernel left a read without a stamp: never again
}

// newPace: a wake-up for an event costs about as much as a tick, so ticks save
// from one event a tick on.
func newPace() pace { return pace{window: 20e6, above: 1e9 / float64(tick)} }

func (p *pace) begin(now int64) { p.from, p.reads, p.merged = now, 0, 0 }

// note takes a read that brought so many pieces of a body.
func (p *pace) note(pieces int, stamped bool) {
	p.reads++
	if pieces > 1 {
		p.merged++
	}
	p.unstamped = p.unstamped || !stamped
}

// paced decides at the end of each window; may: there are stamps of the kernel.
func (p *pace) paced(is bool, now int64, may bool) bool {
	if now-p.from < p.window {
		return is && !p.unstamped
	}
	rate := float64(p.reads) / (float64(now-p.from) / 1e9)
	worth := rate > p.above || is && rate > p.above/2
	worth = worth && may && !p.unstamped && p.merged*8 <= p.reads
	p.begin(now)
	return worth
}
