package mock

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// Config is a mock server. Its JSON is what /mock/law prints: the law in force
// and all else that a reader of results must know, without the key.
type Config struct {
	Addr               string     `json:"-"` // to listen on; empty for 127.0.0.1:0
	Model              string     `json:"model"`
	Law                engine.Law `json:"law"`
	Seed               uint64     `json:"seed"`
	engine.FleetConfig            // replicas, and how requests are shared out
	Template           Template   `json:"template"`
	StampEvents        bool       `json:"stamp_events"`     // x_mock_send_ns, Unix ns, in each event, and the arrival of the request as X-Mock-Recv-Ns in the head
	MaxBody            int64      `json:"max_body_bytes"`   // 0 for 64 MiB
	Version            string     `json:"version"`          // what /version says
	APIKey             string     `json:"-"`                // bearer token that /v1 wants; empty for none
	Counter            Counter    `json:"-"`                // counts prompts; must not be nil
	NetHTTP            bool       `json:"net_http"`         // serve through net/http, HTTP/2 in the clear included
	TLS                *TLS       `json:"-"`                // serve TLS, through net/http; nil for none
	Faults             []Fault    `json:"faults,omitempty"` // what goes wrong
	Shape              Shape      `json:"shape,omitzero"`   // of streams
	Buffer             Buffer     `json:"buffer,omitzero"`  // a proxy that holds answers back
	Record             bool       `json:"record"`           // keep what arrives, for Recording and Arrivals
}

// DefaultConfig is a server of a law that counts with c.
func DefaultConfig(law engine.Law, c Counter) Config {
	return Config{Model: "mock", Law: law, Seed: 1, Template: DefaultTemplate(), MaxBody: 64 << 20, Version: "reprise-mock", Counter: c}
}

// complete fills in what was left empty, and checks the rest.
func (c *Config) complete() error {
	if c.Counter == nil {
		return errors.New("mock: config has no token counter, set Counter")
	}
	if t := c.Template; t.Prefix < 0 || t.PerMessage < 0 || t.Prefix > 1024 || t.PerMessage > 1024 {
		return fmt.Errorf("mock: template tokens are %d and %d, give 0 to 1024", t.Prefix, t.PerMessage)
	}
	for i := range c.Faults {
		if err := c.Faults[i].Validate(); err != nil {
			return fmt.Errorf("mock: %w", err)
		}
	}
	if err := errors.Join(c.Shape.Validate(), c.Buffer.Validate()); err != nil {
		return fmt.Errorf("mock: %w", err)
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 20
	}
	if c.Model == "" {
		c.Model = "mock"
	}
	return nil
}

// Handler serves the API through net/http, and holds what both servers share. It
// owns an engine and the goroutine that drives it from NewHandler until Close.
type Handler struct {
	cfg       Config
	endpoints map[string]endpoint
	fleet     *engine.Fleet // of the driver's goroutine
	driver    *driver.Driver
	prompt    prompter
	late      driver.Delays // of writes
	rec       *recording
	faults    faults
	calls     atomic.Uint64 // numbers the answers
	bufs      sync.Pool
}

// NewHandler starts an engine.
func NewHandler(cfg Config) (*Handler, error) { return newHandler(cfg, driver.NewWaiter) }

func newHandler(cfg Config, wait func() driver.Waiter) (*Handler, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	fleet, err := engine.NewFleet(cfg.Law, cfg.Seed, cfg.FleetConfig)
	if err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, endpoints: endpoints(), fleet: fleet, driver: driver.New(fleet, wait())}
	h.faults.set(cfg.Faults, cfg.Seed)
	h.prompt = prompter{counter: cfg.Counter, template: cfg.Template}
	h.bufs.New = func() any { return new(buffers) }
	if cfg.Record {
		h.rec = &recording{}
	}
	return h, nil
}

// Close stops the engine; requests in flight end without [DONE].
func (h *Handler) Close() { h.driver.Close() }

// Lateness reports how late the mock was since its start or the last reset.
func (h *Handler) Lateness() driver.LatenessReport {
	return driver.LatenessReport{Wait: h.driver.Waits(), Step: h.driver.Late(), Write: h.late.Lateness()}
}

// ResetLateness begins a new count, after a warm-up.
func (h *Handler) ResetLateness() {
	h.driver.ResetLate()
	h.late.Reset()
}

// ServeHTTP answers through net/http. A request arrives when its headers have
// been read: what decoding and counting take is inside its TTFT.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := query{method: r.Method, path: r.URL.Path, auth: r.Header.Get("Authorization"), arrived: h.driver.Now()}
	q.gzip = strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	if h.rec != nil {
		q.contact = contactOf(r)
	}
	e, no := h.route(&q)
	var data []byte
	if no == nil && e.readBody {
		data, no = h.readBody(w, r)
	}
	if h.faults.list != nil {
		q.verdict = h.faults.judge(q.path, q.arrived)
		if h.obstruct(w, r, &q, e, data) {
			return
		}
	}
	switch {
	case no != nil:
		no.write(w)
	case e.whole != nil:
		e.whole(h, data).write(w)
	default:
		h.generate(w, r, &q, e.chat, data)
	}
}

func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *answer) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.cfg.MaxBody))
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return nil, h.tooLarge()
	}
	if err != nil {
		return nil, badRequest("", "the request body could not be read to its end").answer()
	}
	return data, nil
}

func (h *Handler) generate(w http.ResponseWriter, r *http.Request, q *query, chat bool, data []byte) {
	j, no := h.prepare(q, chat, data)
	if no != nil {
		no.write(w)
		return
	}
	if s := newScript(&h.cfg, j, q); s != nil {
		h.scripted(w, r, j, s)
		return
	}
	box := driver.NewMailbox()
	a := h.driver.Submit(j.arrived, j.req, box)
	switch {
	case a.Err != nil:
		h.refuse(j, a).write(w)
	case j.call.stream:
		h.stream(w, r, a, box, j)
	default:
		h.whole(w, r, a, box, j)
	}
}
