package mock

import (
	"context"
	"fmt"
	"net"
	"sync"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/wire"
)

// Server is a listening mock.
type Server struct {
	handler  *Handler
	listener net.Listener
	front    front
	secure   *secure // nil without TLS
	served   chan struct{}
	err      error // of serving; read after served
	stop     func() bool
	once     sync.Once
}

// front takes connections. Two kinds do: our own, and net/http's.
type front interface {
	serve(net.Listener) error // until close; nil then
	close()                   // the listener and every connection
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
	s := &Server{handler: h, served: make(chan struct{})}
	if err := s.listen(ctx, cfg); err != nil {
		h.Close()
		return nil, err
	}
	go func() {
		defer close(s.served)
		s.err = s.front.serve(s.listener)
	}()
	s.stop = context.AfterFunc(ctx, s.shut)
	return s, nil
}

// listen chooses the front and opens the listener.
func (s *Server) listen(ctx context.Context, cfg Config) error {
	var config net.ListenConfig
	var err error
	switch {
	case cfg.TLS != nil:
		if s.secure, err = cfg.TLS.load(); err != nil {
			return err
		}
		s.front = newNetFront(s.handler, s.secure)
	case cfg.NetHTTP:
		s.front = newNetFront(s.handler, nil)
	default:
		config.Control = wire.StampListener
		s.front = newWireFront(s.handler)
	}
	if s.listener, err = config.Listen(ctx, "tcp", cfg.Addr); err != nil {
		return fmt.Errorf("mock: cannot listen on %s: %w", cfg.Addr, err)
	}
	s.listener = s.handler.faults.listener(s.listener, s.handler.driver.Now)
	return nil
}

// URL is the base address, without /v1.
func (s *Server) URL() string {
	if s.secure != nil {
		return "https://" + s.listener.Addr().String()
	}
	return "http://" + s.listener.Addr().String()
}

// Certificate is what clients of a server with TLS must trust, PEM; nil without.
func (s *Server) Certificate() []byte {
	if s.secure == nil {
		return nil
	}
	return s.secure.pem
}

// Lateness reports how late the mock was since its start or the last reset.
func (s *Server) Lateness() driver.LatenessReport { return s.handler.Lateness() }

// Done is closed when the server no longer serves.
func (s *Server) Done() <-chan struct{} { return s.served }

// shut ends every connection, then the engine.
func (s *Server) shut() {
	s.once.Do(func() {
		s.front.close()
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
