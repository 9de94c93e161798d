// Package demolog makes the day of request logs that the demo and the tests
// use: a made-up insurer's support assistant, as its gateway would log it.
//
// One JSON object a line, in order of completion: time, session, user, the
// OpenAI-shaped request with its messages, and the response. All prompts begin
// with one long instruction block; conversations resend their history; the
// rate follows the hour of the day, with a burst of ninety seconds in the
// morning. Some rows are what real logs hold too: failures, embeddings, and
// three lines that no parser can read.
//
// Everything is drawn from a seed; the same seed gives the same bytes. Names,
// numbers and addresses are invented.
package demolog

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Burst is when the busiest part of the day begins and how long it lasts.
const (
	BurstAt  = 10*time.Hour + 17*time.Minute
	BurstFor = 90 * time.Second
)

// hourly is the mean number of conversations that start in each hour.
var hourly = [24]float64{20, 14, 10, 8, 8, 14, 40, 90, 170, 230, 250, 240, 190, 210, 230, 220, 200, 170, 130, 100, 80, 60, 45, 30}

// burstRate is the extra conversations a second during the burst.
const burstRate = 8.0

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model     string    `json:"model"`
	Messages  []message `json:"messages,omitempty"`
	Input     string    `json:"input,omitempty"`
	Stream    bool      `json:"stream"`
	MaxTokens int       `json:"max_tokens,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Message message `json:"message"`
	Finish  string  `json:"finish_reason"`
}

type response struct {
	ID      string   `json:"id"`
	Choices []choice `json:"choices"`
}

type row struct {
	Timestamp string    `json:"timestamp"`
	RequestID string    `json:"request_id"`
	SessionID string    `json:"session_id"`
	User      string    `json:"user"`
	Endpoint  string    `json:"endpoint"`
	Status    int       `json:"status"`
	TTFT      float64   `json:"ttft_ms,omitempty"`
	Latency   float64   `json:"latency_ms"`
	Request   request   `json:"request"`
	Response  *response `json:"response,omitempty"`
}

// line is a finished log line with the time at which it was written.
type line struct {
	at   time.Duration
	n    int
	text string
}

// Write writes the day to w.
func Write(w io.Writer, seed uint64) error {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x64656d6f)), day: time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)}
	if err := g.conversations(); err != nil {
		return err
	}
	g.unreadable()
	slices.SortFunc(g.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n))
	})
	out := bufio.NewWriterSize(w, 1<<16)
	for _, l := range g.lines {
		out.WriteString(l.text)
		out.WriteByte('\n')
	}
	return out.Flush()
}

type generator struct {
	rng   *rand.Rand
	day   time.Time
	lines []line
	id    int
}

// conversations starts conversations second by second as a Poisson process of
// the hour's rate.
func (g *generator) conversations() error {
	for s := range 24 * 3600 {
		at := time.Duration(s) * time.Second
		rate := hourly[s/3600] / 3600
		if at >= BurstAt && at < BurstAt+BurstFor {
			rate += burstRate
		}
		for range g.poisson(rate) {
			if err := g.conversation(at + time.Duration(g.rng.Int64N(int64(time.Second)))); err != nil {
				return err
			}
		}
	}
	return nil
}

// poisson draws by counting uniform products, which is exact for small means.
func (g *generator) poisson(mean float64) int {
	limit, p, n := math.Exp(-mean), g.rng.Float64(), 0
	for p > limit {
		p *= g.rng.Float64()
		n++
	}
	return n
}

// conversation writes the turns of one session, history resent each time.
func (g *generator) conversation(at time.Duration) error {
	user := fmt.Sprintf("user-%04d", g.rng.IntN(2400))
	session := fmt.Sprintf("s-%08x", g.rng.Uint32())
	messages := []message{{"system", instructions}}
	for turn := 0; turn < 8 && at < 24*time.Hour; turn++ {
		messages = append(messages, message{"user", g.question(turn)})
		answer := g.answer()
		end, err := g.turn(at, user, session, messages, answer)
		if err != nil {
			return err
		}
		messages = append(messages, message{"assistant", answer})
		if g.rng.Float64() > 0.42+0.06*float64(turn) {
			break
		}
		at = end + time.Duration((8+g.rng.ExpFloat64()*45)*float64(time.Second))
	}
	if g.rng.IntN(60) == 0 {
		return g.embedding(at, user, session)
	}
	return nil
}

func (g *generator) turn(at time.Duration, user, session string, messages []message, answer string) (time.Duration, error) {
	words := float64(strings.Count(answer, " ") + 1)
	ttft := 180 + 120*g.rng.ExpFloat64()
	latency := ttft + words*1.35*(11+2*g.rng.Float64())
	r := row{User: user, SessionID: session, Endpoint: "/v1/chat/completions", Status: 200, TTFT: round(ttft), Latency: round(latency),
		Request: request{Model: "support-large", Messages: messages, Stream: true, MaxTokens: 800}}
	r.Response = &response{Choices: []choice{{Message: message{"assistant", answer}, Finish: "stop"}}}
	switch g.rng.IntN(400) {
	case 0:
		r.Status, r.Response, r.TTFT = 429, nil, 0
	case 1:
		r.Status, r.Response, r.TTFT = 500, nil, 0
	}
	end := at + time.Duration(latency*float64(time.Millisecond))
	return end, g.emit(at, end, r)
}

// embedding is a row that is no generation; ingest excludes it by rule.
func (g *generator) embedding(at time.Duration, user, session string) error {
	r := row{User: user, SessionID: session, Endpoint: "/v1/embeddings", Status: 200, Latency: round(20 + 5*g.rng.Float64()),
		Request: request{Model: "embed-small", Input: g.question(1)}}
	return g.emit(at, at+25*time.Millisecond, r)
}

func (g *generator) emit(at, end time.Duration, r row) error {
	g.id++
	r.RequestID = fmt.Sprintf("req-%06d", g.id)
	if r.Response != nil {
		r.Response.ID = "chatcmpl-" + r.RequestID
	}
	r.Timestamp = g.day.Add(at).Format("2006-01-02T15:04:05.000000Z")
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	g.lines = append(g.lines, line{end, g.id, string(text)})
	return nil
}

// unreadable adds what a crash of the gateway left behind.
func (g *generator) unreadable() {
	for i, text := range []string{
		`{"timestamp":"2026-11-12T09:12:44.120000Z","request_id":"req-cut","request":{"model":"support-la`,
		`{"timestamp":"yesterday","endpoint":"/v1/chat/completions","status":200,"request":{"model":"support-large","messages":[{"role":"user","content":"hello"}]}}`,
		`gateway restarted`,
	} {
		g.id++
		g.lines = append(g.lines, line{time.Duration(9+2*i)*time.Hour + 13*time.Minute, g.id, text})
	}
}

func round(ms float64) float64 { return math.Round(ms*10) / 10 }

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }
