package mock

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config is a mock server. Its JSON is what /mock/law prints: the law in force
// and all else that a reader of results must know, without the key.
type Config struct {
	Addr        string   `json:"-"` // to listen on; empty for 127.0.0.1:0
	Model       string   `json:"model"`
	Law         Law      `json:"law"`
	Seed        uint64   `json:"seed"`
	Template    Template `json:"template"`
	StampEvents bool     `json:"stamp_events"`   // x_mock_send_ns, Unix ns, in each event
	MaxBody     int64    `json:"max_body_bytes"` // 0 for 64 MiB
	Version     string   `json:"version"`        // what /version says
	APIKey      string   `json:"-"`              // bearer token that /v1 wants; empty for none
	Counter     Counter  `json:"-"`              // counts prompts; must not be nil
}

// DefaultConfig is a server of a law that counts with c.
func DefaultConfig(law Law, c Counter) Config {
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
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 20
	}
	if c.Model == "" {
		c.Model = "mock"
	}
	return nil
}

// Handler serves the API. It owns an engine and the goroutine that drives it
// from NewHandler until Close.
type Handler struct {
	cfg    Config
	mux    *http.ServeMux
	driver *driver
	prompt prompter
	late   lateness // of writes
	bufs   sync.Pool
}

// NewHandler starts an engine.
func NewHandler(cfg Config) (*Handler, error) { return newHandler(cfg, newWaiter) }

func newHandler(cfg Config, wait func() waiter) (*Handler, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	engine, err := NewEngine(cfg.Law, cfg.Seed)
	if err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, mux: http.NewServeMux(), driver: newDriver(engine, wait())}
	h.prompt = prompter{counter: cfg.Counter, template: cfg.Template}
	h.bufs.New = func() any { return new(buffers) }
	h.routes()
	return h, nil
}

// Close stops the engine; requests in flight end without [DONE].
func (h *Handler) Close() { h.driver.close() }

// Lateness reports how late the mock was so far.
func (h *Handler) Lateness() LatenessReport {
	return LatenessReport{Wait: h.driver.waiter.name(), Step: h.driver.late.report(), Write: h.late.report()}
}

func (h *Handler) routes() {
	h.mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { h.generate(w, r, true) })
	h.mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { h.generate(w, r, false) })
	h.mux.HandleFunc("GET /v1/models", h.models)
	h.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	h.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": h.cfg.Version})
	})
	h.mux.HandleFunc("GET /metrics", h.metrics)
	h.mux.HandleFunc("GET /mock/lateness", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, h.Lateness()) })
	h.mux.HandleFunc("GET /mock/law", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, h.cfg) })
}

// ServeHTTP checks the key of /v1 and serves.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.cfg.APIKey != "" && strings.HasPrefix(r.URL.Path, "/v1/") && !h.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		(&apiError{Status: http.StatusUnauthorized, Message: "Incorrect API key provided.", Type: "AuthenticationError"}).write(w)
		return
	}
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) authorized(r *http.Request) bool {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(h.cfg.APIKey)) == 1
}

func (h *Handler) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": h.cfg.Model, "object": "model", "created": h.driver.zero.Unix(), "owned_by": "reprise",
		"root": h.cfg.Model, "parent": nil, "max_model_len": h.cfg.Law.MaxModelLen,
	}}})
}

// generate serves both generating endpoints. A request arrives when its headers
// have been read: what decoding and counting take is inside its TTFT.
func (h *Handler) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	arrived := h.driver.now()
	c, fault := h.read(w, r, chat)
	if fault != nil {
		fault.write(w)
		return
	}
	ids := h.prompt.render(c)
	blocks, key := HashBlocks(make([]uint64, 0, len(ids)/BlockTokens), ids)
	req := Request{Prompt: int32(len(ids)), Blocks: blocks, MaxTokens: c.maxTokens, MinTokens: c.minTokens, IgnoreEOS: c.ignoreEOS, Draw: key}
	box := newMailbox()
	a := h.driver.submit(arrived, req, box)
	setRate(w.Header(), a.rate)
	if a.err != nil {
		refusal(a.err).write(w)
		return
	}
	prefix := "cmpl"
	if chat {
		prefix = "chatcmpl"
	}
	id := fmt.Sprintf("%s-%016x%016x", prefix, mix(h.cfg.Seed), uint64(a.id))
	w.Header().Set("X-Request-Id", id)
	rep := newReply(c, id, time.Now().Unix(), req.Prompt, key)
	rep.stamp = h.cfg.StampEvents
	if c.stream {
		h.stream(w, r, a.id, box, rep)
	} else {
		h.whole(w, r, a.id, box, rep)
	}
}

// read decodes a call and checks what does not need the engine.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, chat bool) (*call, *apiError) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.cfg.MaxBody))
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return nil, &apiError{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request body is over %d bytes", big.Limit), Type: "BadRequestError"}
	}
	if err != nil {
		return nil, badRequest("", "the request body could not be read to its end")
	}
	c, fault := decode(chat, data)
	if fault != nil {
		return nil, fault
	}
	if c.model != h.cfg.Model {
		param := "model"
		return nil, &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("The model `%s` does not exist.", c.model), Type: "NotFoundError", Param: &param}
	}
	return c, nil
}
