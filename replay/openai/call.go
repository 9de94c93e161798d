package openai

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"reprise/replay"
	"reprise/trace"
)

func some[T any](v T) trace.Opt[T] { return trace.Some(v) }

// call is one rendered request, and the receiver of its answer.
type call struct {
	client     *Client
	data       []byte // the body, behind room for the engine's head
	answerRoom int    // gaps to make room for
	query      query
	result     replay.Result
	server     string // the Server header, for preflight
	whole      bool   // the answer was one JSON object
	named      string // the model that the answer names, where asked is set
	asked      bool
	keep       bool // keep the texts of the answer
	planned    bool // it is of the plan
	several    bool // it asks for more than one choice

	heard   bool // an answer has begun, with this status
	status  int
	coding  string
	answer  *answer
	refusal []byte // the body of an answer that is not a success
}

// Send sends the request and reads its answer to the end. It is sent once,
// unless Wire.Resend allows a second time on a connection that proved dead.
func (k *call) Send(ctx context.Context, f *replay.Flight) replay.Result {
	c := k.client
	k.query = query{flight: f, room: c.room, data: k.data, limits: limits{c.cfg.FirstToken, c.cfg.Idle, c.cfg.Total}}
	if !c.cfg.Wire.Resend {
		k.data = nil // it is garbage once it is written
	}
	err := c.engine.exchange(ctx, &k.query, k)
	if k.query.seen.stale && c.cfg.Wire.Resend {
		c.resent.Add(1)
		k.query.anew = true
		err = c.engine.exchange(ctx, &k.query, k)
	}
	k.query.data = nil
	k.query.seen.into(&k.result)
	if !k.result.End.OK {
		k.result.End = some(f.Now())
	}
	k.judge(&k.query.seen, err)
	k.result.Reason = c.secrets.blot(k.result.Reason)
	return k.result
}

// judge says what became of the request, once its exchange is over.
func (k *call) judge(p *passage, err error) {
	r := &k.result
	limit, ended := endedBy(err)
	switch {
	case !k.heard && ended:
		k.fail(limit)
	case !k.heard:
		k.fail(k.client.lost(p, err))
	case k.answer != nil:
		k.answer.end(err == nil, r.End.V)
		k.whole, k.named = k.answer.form == object, k.answer.model
		if k.answer.own {
			note(&k.client.told.ids, len(idHeaders()))
		}
		if ended && r.Class == replay.Truncated {
			r.Class, r.Reason = limit.class, limit.reason
		}
	case k.status == http.StatusOK:
		k.fail(fault{replay.StreamError, "the answer is compressed (" + k.coding + ") though that was not asked for", true})
	case k.client.plainAtTLS(k.status, k.refusal):
		k.fail(fault{replay.HTTP4xx, k.client.shouldBeTLS(), true})
	default:
		k.fail(statusFault(k.status, k.message(k.refusal)))
	}
}

func (k *call) fail(f fault) {
	k.result.Class, k.result.Reason, k.result.Hopeless = f.class, f.reason, f.hopeless
}

// lost is the fault of a request without an answer.
func (c *Client) lost(p *passage, err error) fault {
	if p.stale {
		return fault{replay.Truncated, "the server closed the kept connection before an answer", false}
	}
	return transportFault(err, c.target.post.Host, p.ready.OK, p.tlsBroken)
}

// head takes the start of the answer.
func (k *call) head(status int, h fields) bool {
	k.heard, k.status = true, status
	if k.query.deep {
		k.fields(status, h)
	} else {
		aside(func() { k.fields(status, h) })
	}
	if status != http.StatusOK {
		return true
	}
	if k.coding != "" {
		return false
	}
	k.answer = newAnswer(&k.result)
	k.answer.secrets = k.client.secrets
	k.answer.naming, k.answer.several, k.answer.deep = k.asked, k.several, k.query.deep
	k.answer.asked = k.result.ServerRequestID != ""
	if k.client.cfg.Stamped {
		k.answer.clock = k.query.flight.Now
		at, _ := strconv.ParseInt(h.Get("X-Mock-Recv-Ns"), 10, 64)
		k.result.Far = &replay.Far{Arrived: at}
	}
	if k.keep {
		k.result.Said = new(replay.Said)
	}
	k.result.Gaps = make([]int32, 0, k.answerRoom)
	return true
}

// fields reads the header of an answer.
func (k *call) fields(status int, h fields) {
	r := &k.result
	r.HTTP = some(int16(min(status, 999)))
	r.RetryAfterMS = retryAfter(h, time.Now())
	r.ServerTime = k.client.told.serverTime(h)
	s := k.client.secrets
	if k.planned {
		k.client.stated.take(h, s)
	}
	r.ServerRequestID = k.client.told.requestID(h, s)
	k.server = printable(s.blot(h.Get("Server")))
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		k.coding = printable(e)
	}
}

// maxRefusal bounds what is read of an answer that is not a success.
const maxRefusal = 64 << 10

// body takes the next bytes of the answer. After [DONE] the body's end is
// waited for a moment, so that the connection can be used again.
func (k *call) body(b []byte, at int64) progress {
	a := k.answer
	if a == nil {
		k.refusal = append(k.refusal, b...)
		if len(k.refusal) >= maxRefusal {
			return enough
		}
		return still
	}
	fields := a.sse.fields
	a.push(b, at)
	switch {
	case a.done:
		return finished
	case a.over:
		return enough
	// A comment keeps a connection open and is no progress.
	case a.form == stream && a.sse.fields == fields && !a.sse.unfinished():
		return still
	case k.result.FirstContent.OK:
		return begun
	}
	return moving
}

// printable bounds a header that goes into an artifact.
func printable(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToValidUTF8(oneLine(s), "?")
}

// message returns what the body of a refusal says, with the key blotted out:
// some servers quote it.
func (k *call) message(body []byte) string {
	say := ""
	switch f := sniff(body); {
	case f == page:
		return "an HTML page"
	case f == gzipped, k.coding != "":
		return "a message that is compressed"
	}
	if gjson.ValidBytes(body) {
		say = errorMessage(gjson.ParseBytes(body))
	} else {
		say = string(body)
	}
	return k.client.secrets.blot(say)
}
