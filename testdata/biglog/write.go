package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// start is when the logs begin.
var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// talk is one conversation that goes on.
type talk struct {
	session, user int
	messages      string // as JSON, without brackets
	turn, chars   int
}

// generator makes calls.
type generator struct {
	rng     *rand.Rand
	pool    pool
	systems []string
	talks   []talk
	next    int
	at      time.Duration
	row     []byte
}

const (
	systems = 24
	atOnce  = 3000 // conversations that go on at the same time
	turns   = 6
)

func newGenerator(seed uint64) *generator {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := &generator{rng: rng, pool: newPool(rng, 4<<20), talks: make([]talk, atOnce)}
	for range systems {
		g.systems = append(g.systems, g.pool.cut(rng, 600+rng.IntN(900)))
	}
	for i := range g.talks {
		g.talks[i].turn = turns // begins anew at its first call
	}
	return g
}

// call is one request, its texts escaped for JSON.
type call struct {
	at                 string
	session, user      string
	messages, answer   string
	input, output, dur int
}

// call goes on with one of the conversations.
func (g *generator) call() call {
	t := &g.talks[g.rng.IntN(len(g.talks))]
	if t.turn >= turns || g.rng.IntN(12) == 0 {
		s := g.systems[min(g.rng.IntN(systems), g.rng.IntN(systems))]
		*t = talk{session: g.next, user: g.rng.IntN(5000), messages: message("system", s), chars: len(s)}
		g.next++
	}
	question, answer := g.pool.cut(g.rng, 40+g.rng.IntN(360)), g.pool.cut(g.rng, 60+g.rng.IntN(620))
	t.messages += "," + message("user", question)
	t.chars += len(question)
	g.at += time.Duration(g.rng.ExpFloat64() * float64(20*time.Millisecond))
	c := call{at: start.Add(g.at).Format("2006-01-02T15:04:05.000000Z"), session: fmt.Sprintf("conv-%08x", t.session),
		user: fmt.Sprintf("user-%05d", t.user), messages: t.messages, answer: answer,
		input: t.chars/4 + 4*(2*t.turn+2) + 3, output: len(answer)/4 + 1, dur: 200 + len(answer)*3}
	t.messages += "," + message("assistant", answer)
	t.chars += len(answer)
	t.turn++
	return c
}

func message(role, text string) string { return `{"role":"` + role + `","content":"` + text + `"}` }

// jsonl writes lines until size bytes are out, and returns how many.
func jsonl(w io.Writer, seed uint64, size int64) (rows int64, err error) {
	out := bufio.NewWriterSize(w, 1<<20)
	g := newGenerator(seed)
	for n := int64(0); n < size; rows++ {
		g.row = g.call().line(g.row[:0])
		n += int64(len(g.row))
		if _, err := out.Write(g.row); err != nil {
			return rows, err
		}
	}
	return rows, out.Flush()
}

func (c call) line(b []byte) []byte {
	for _, s := range []string{`{"timestamp":"`, c.at, `","session_id":"`, c.session, `","user":"`, c.user,
		`","request":{"model":"gpt-large","stream":true,"max_tokens":2048,"temperature":0.2,"messages":[`, c.messages,
		`]},"response":{"id":"chatcmpl-`, c.session, c.at[11:26], `","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"`,
		c.answer, `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":`} {
		b = append(b, s...)
	}
	b = strconv.AppendInt(b, int64(c.input), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(c.output), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(c.input+c.output), 10)
	b = append(b, `}},"status":200,"latency_ms":`...)
	b = strconv.AppendInt(b, int64(c.dur), 10)
	return append(b, "}\n"...)
}

// azure writes rows of the Azure trace's shape.
func azure(w io.Writer, seed uint64, size int64) (rows int64, err error) {
	out := bufio.NewWriterSize(w, 1<<20)
	rng := rand.New(rand.NewPCG(seed, 2))
	out.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
	at := start
	var b []byte
	for n := int64(0); n < size; rows++ {
		at = at.Add(time.Duration(rng.ExpFloat64() * float64(2*time.Millisecond)))
		b = at.AppendFormat(b[:0], "2006-01-02 15:04:05.0000000")
		b = strconv.AppendInt(append(b, ','), int64(1+rng.IntN(4000)), 10)
		b = strconv.AppendInt(append(b, ','), int64(1+rng.IntN(900)), 10)
		b = append(b, "\r\n"...)
		n += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return rows, err
		}
	}
	return rows, out.Flush()
}

// parquetRow is a row of the same log as a table, bodies as JSON text.
type parquetRow struct {
	Timestamp time.Time `parquet:"timestamp,timestamp(microsecond)"`
	Session   string    `parquet:"session_id,zstd"`
	User      string    `parquet:"user,zstd"`
	Request   string    `parquet:"request,zstd"`
	Response  string    `parquet:"response,zstd"`
	Unused    string    `parquet:"raw_http,zstd"` // a wide column that nothing is taken from
	Status    int32     `parquet:"status"`
	LatencyMS float64   `parquet:"latency_ms"`
}

// table writes the log as Parquet; size counts bytes of text, before compression.
func table(w io.Writer, seed uint64, size int64) (rows int64, err error) {
	out := parquet.NewGenericWriter[parquetRow](w, parquet.MaxRowsPerRowGroup(20_000))
	g := newGenerator(seed)
	for n := int64(0); n < size; rows++ {
		c := g.call()
		at, _ := time.Parse(time.RFC3339Nano, c.at)
		r := parquetRow{Timestamp: at, Session: c.session, User: c.user, Status: 200, LatencyMS: float64(c.dur),
			Request: `{"model":"gpt-large","stream":true,"max_tokens":2048,"messages":[` + c.messages + `]}`,
			Response: `{"choices":[{"index":0,"message":{"role":"assistant","content":"` + c.answer + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":` +
				strconv.Itoa(c.input) + `,"completion_tokens":` + strconv.Itoa(c.output) + `}}`,
			Unused: strings.Repeat("x-header: value\n", 20)}
		n += int64(len(r.Request) + len(r.Response))
		if _, err := out.Write([]parquetRow{r}); err != nil {
			return rows, err
		}
	}
	return rows, out.Close()
}
