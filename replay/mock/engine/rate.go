package engine

import "time"

// Rate is what the x-ratelimit headers say. Limit is 0 when there is none.
type Rate struct {
	Limit     int           // requests a minute
	Remaining int           // requests that would pass now
	Reset     time.Duration // until the bucket is full
}

// bucket is a token bucket: it refills steadily and starts full.
type bucket struct {
	limit   float64 // requests a minute; 0 for none
	size    float64
	every   float64 // ns between tokens
	level   float64
	leveled time.Duration // when level was right
}

func newBucket(l *Law) bucket {
	if l.RequestsPerMinute == 0 {
		return bucket{}
	}
	size := float64(l.RateBurst)
	if size == 0 {
		size = max(1, l.RequestsPerMinute)
	}
	return bucket{limit: l.RequestsPerMinute, size: size, every: float64(time.Minute) / l.RequestsPerMinute, level: size}
}

// refill brings the level up to now.
func (b *bucket) refill(now time.Duration) {
	if now > b.leveled {
		b.level = min(b.size, b.level+float64(now-b.leveled)/b.every)
		b.leveled = now
	}
}

// take removes a token, or returns how long until there is one.
func (b *bucket) take(now time.Duration) time.Duration {
	if b.limit == 0 {
		return 0
	}
	b.refill(now)
	const slack = 1e-9 // of rounding, so that a client that waited as told passes
	if b.level >= 1-slack {
		b.level = max(0, b.level-1)
		return 0
	}
	return max(1, time.Duration((1-b.level)*b.every))
}

func (b *bucket) state(now time.Duration) Rate {
	if b.limit == 0 {
		return Rate{}
	}
	b.refill(now)
	return Rate{Limit: int(b.limit), Remaining: int(b.level + 1e-9), Reset: time.Duration((b.size - b.level) * b.every)}
}
