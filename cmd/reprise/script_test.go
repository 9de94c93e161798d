package main

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/trace/token"
)

var update = flag.Bool("update", false, "write the expected output of scripts anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"reprise": func() { os.Exit(program(false)) }})
}

// TestScripts runs the command as users run it: testdata/scripts/*.txtar.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs(module)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(root, "testdata", "scripts"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			env.Setenv("SHARED", filepath.Join(root, "..", "shared"))
			env.Setenv("HTML_URL", serve(env, htmlAnswer))
			env.Setenv("LOCKED_URL", serve(env, locked))
			env.Setenv("FULL_URL", serve(env, full()))
			env.Setenv("BROKEN_URL", serve(env, breaking()))
			mock, err := startEngine(env)
			if err != nil {
				return err
			}
			env.Setenv("MOCK_URL", mock)
			if mock, err = startEngine(env); err != nil {
				return err
			}
			env.Setenv("MOCK2_URL", mock)
			dead, err := deadURL()
			env.Setenv("DEAD_URL", dead)
			return err
		},
		Condition: func(cond string) (bool, error) {
			if cond == "shared" {
				_, err := os.Stat(filepath.Join(root, "..", "shared", "data"))
				return err == nil, nil
			}
			return false, nil
		},
	})
}

func serve(env *testscript.Env, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	env.Defer(s.Close)
	return s.URL
}

// startEngine starts a mock engine that answers on an exact schedule.
func startEngine(env *testscript.Env) (string, error) {
	law, err := engine.Preset("plain")
	if err != nil {
		return "", err
	}
	t, err := token.Open("o200k_base")
	if err != nil {
		return "", err
	}
	srv, err := mock.Start(context.Background(), mock.DefaultConfig(law, t))
	if err != nil {
		return "", err
	}
	env.Defer(func() { srv.Close() })
	return srv.URL(), nil
}

// htmlAnswer is a web page where an API was expected.
func htmlAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write([]byte("<!DOCTYPE html><html><body>Welcome</body></html>"))
}

// full answers what preflight asks, and is then full for good.
func full() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
		case n.Add(1) == 1:
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, `{"error":{"message":"no room for `+r.Header.Get("Authorization")+`"}}`)
		}
	}
}

// breaking answers 30 requests besides those of preflight, and fails for good.
func breaking() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet:
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
		case len(body) < 700 || n.Add(1) <= 30:
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\ndata: [DONE]\n\n")
		default:
			http.Error(w, `{"error":{"message":"out of memory"}}`, http.StatusInternalServerError)
		}
	}
}

// locked is an endpoint whose key we do not have.
func locked(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	w.Write([]byte(`{"error":{"message":"Unauthorized","type":"invalid_request_error"}}`))
}

// deadURL is a port on which nobody listens.
func deadURL() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return "http://" + l.Addr().String(), nil
}
