package mock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a listening mock.
type Server struct {
	handler  *Handler
	http     *http.Server
	listener net.Listener
	served   chan struct{}
	err      error // of serving; read after served
	stop     func() bool
	once     sync.Once
}

// Start listens and serves until Close, or until ctx is done.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	h, err := NewHandler(cfg)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("mock: cannot listen on %s: %w", cfg.Addr, err)
	}
	s := &Server{handler: h, listener: l, served: make(chan struct{})}
	s.http = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	s.stop = context.AfterFunc(ctx, s.shut)
	return s, nil
}

// URL is the base address, without /v1.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Lateness reports how late the mock was so far.
func (s *Server) Lateness() LatenessReport { return s.handler.Lateness() }

// Done is closed when the server no longer serves.
func (s *Server) Done() <-chan struct{} { return s.served }

// shut ends every connection, then the engine.
func (s *Server) shut() {
	s.once.Do(func() {
		_ = s.http.Close() // closes the listener; its error is Serve's
		s.handler.Close()
	})
}

// Close stops the server at once and reports why serving ended, if not by this
// or by the context. It may be called again.
func (s *Server) Close() error {
	s.stop()
	s.shut()
	<-s.served
	return s.err
}
