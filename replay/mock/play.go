package mock

import (
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// player gives an answer under a script to an outlet.
type player struct {
	h      *Handler
	job    *job
	script *script
	box    *driver.Mailbox
	out    outlet
	quit   <-chan struct{} // closed when the client has left

	rate   engine.Rate
	id     engine.ID
	queue  []segment
	events []engine.Event
	timer  *time.Timer
}

// play answers from the engine's admission to the end of the body.
func (p *player) play() {
	select {
	case a := <-p.box.Answer:
		if a.Err != nil {
			p.out.answer(p.h.refuse(p.job, a))
			return
		}
		p.id, p.rate = a.ID, a.Rate
	case <-p.h.driver.Stopped():
		p.out.answer(p.h.refuse(p.job, driver.Admission{Err: driver.ErrClosed}))
		return
	}
	if !p.body() {
		p.h.leave(p.id, p.job)
	}
}

// body sends head and body; false when the request is not at its end.
func (p *player) body() bool {
	header := p.job.opening(p.rate)
	if !p.job.call.stream {
		header[0].value = "application/json"
	}
	if p.out.open(append(header, p.script.header()...)) != nil {
		return false
	}
	p.script.begin(p.h.driver.Now())
	p.timer = time.NewTimer(time.Hour)
	defer p.timer.Stop()
	for {
		over, ok := p.leave()
		if over || !ok {
			return ok
		}
		p.arm()
		select {
		case <-p.box.Note:
			p.take()
		case <-p.timer.C:
			p.queue = append(p.queue, p.script.wake(p.h.driver.Now())...)
		case <-p.quit:
			return false
		case <-p.h.driver.Stopped():
			return false
		}
	}
}

// take hands the tokens that wait to the script.
func (p *player) take() {
	p.events = p.box.Take(p.events[:0])
	if len(p.events) == 0 {
		return
	}
	now := p.h.driver.Now()
	for _, ev := range p.events {
		p.h.rec.token(p.job.entry, ev, now)
	}
	if p.job.call.stream {
		p.queue = append(p.queue, p.script.add(p.events, now, time.Now().UnixNano())...)
	} else if last := p.events[len(p.events)-1]; last.Finish != engine.Going {
		p.queue = append(p.queue, p.script.whole(last, now)...)
	}
}

// leave sends the segments that are due. It is over after the last one, and not
// ok when the request was given up before.
func (p *player) leave() (over, ok bool) {
	for len(p.queue) > 0 && p.queue[0].at <= p.h.driver.Now() {
		seg := p.queue[0]
		p.queue = p.queue[1:]
		if len(seg.data) > 0 && seg.end != endShort && p.out.write(seg.data) != nil {
			return true, false
		}
		switch seg.end {
		case goesOn:
		case endSilent:
			select {
			case <-p.quit:
			case <-p.h.driver.Stopped():
			}
			return true, false
		case endWhole:
			p.out.finish(seg.end, nil)
			return true, p.script.complete
		default:
			p.out.finish(seg.end, seg.data)
			return true, p.script.complete
		}
	}
	return false, true
}

// arm sets the timer to when something leaves without a token.
func (p *player) arm() {
	at, ok := p.script.next()
	if len(p.queue) > 0 && (!ok || p.queue[0].at < at) {
		at, ok = p.queue[0].at, true
	}
	if !ok {
		p.timer.Reset(time.Hour)
		return
	}
	p.timer.Reset(at - p.h.driver.Now())
}
