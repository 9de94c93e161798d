package openai

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock"
)

// second starts a server of HTTP/2, over TLS or in the clear, and returns a client
// of it.
func second(t *testing.T, secure bool, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 16, MaxReceiveBufferPerStream: 1 << 16, MaxConcurrentStreams: 100}
	s.EnableHTTP2 = true
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP2(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return client(t, s.URL, by(EngineNet, func(c *Config) {
		if !secure {
			c.Wire.HTTP2 = H2C
			return
		}
		c.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		c.TLS.NextProtos = nil
	}))
}

// trial sends a request of in words, and notes when its flight was told that it
// was sent.
func trial(t *testing.T, c *Client, zero time.Time, in int32) replay.Result {
	call, err := c.Prepare(job(in, 2))
	if err != nil {
		t.Error(err)
		return replay.Result{}
	}
	return call.Send(t.Context(), replay.NewFlight(replay.NewTimer(zero)))
}

// Of requests that share a connection each has its own end of writing: that of
// one is not the next write of another, nor its own first byte.
func TestHTTP2WriteEndIsOfTheRequest(t *testing.T) {
	for _, secure := range []bool{false, true} {
		const n = 5
		var mu sync.Mutex
		var got []time.Time
		all := make(chan struct{})
		c := second(t, secure, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			mu.Lock()
			got = append(got, time.Now())
			k := len(got) - 1
			if mu.Unlock(); k == n {
				close(all)
			}
			if k > 0 {
				select { // no header before the last request is here
				case <-all:
				case <-r.Context().Done():
				}
			}
			io.WriteString(w, role+hello+world+done)
		})
		if r := trial(t, c, time.Now(), 1); r.Class != replay.OK { // opens the connection and tells what it speaks
			t.Fatalf("%+v", r)
		}
		zero := time.Now()
		results := make([]replay.Result, n)
		var flying sync.WaitGroup
		var early atomic.Int64 // none can end before all are there
		for i := range results {
			flying.Go(func() {
				results[i] = trial(t, c, zero, 10)
				early.Add(1)
			})
			for here := 0; here <= i+1; time.Sleep(100 * time.Microsecond) { // one after the other
				over := early.Load()
				mu.Lock()
				here = len(got)
				mu.Unlock()
				if here <= i+1 && over > 0 {
					t.Fatalf("TLS %v: a request ended before the server had the last", secure)
				}
			}
		}
		flying.Wait()
		got = got[1:]
		shared := 0
		for i, r := range results {
			if r.Class != replay.OK || r.Protocol != replay.HTTP2 {
				t.Fatalf("TLS %v: %+v", secure, r)
			}
			checkOrder(t, &r)
			if r.Reused.V {
				shared++
			}
			if at := zero.Add(time.Duration(r.WriteEnd.V)); at.After(got[i]) {
				t.Errorf("TLS %v: request %d is written %v after the server had all of it", secure, i, at.Sub(got[i]))
			}
			if first := zero.Add(time.Duration(r.FirstByte.V)); first.Before(got[n-1]) {
				t.Errorf("TLS %v: request %d has a first byte %v before there was an answer", secure, i, got[n-1].Sub(first))
			}
		}
		if shared != n {
			t.Errorf("TLS %v: %d of %d requests shared a connection", secure, shared, n)
		}
	}
}

// A body larger than the server's window is written when the last of it has left,
// which is after the server has read some.
func TestHTTP2WriteEndOfALargeBody(t *testing.T) {
	read := make(chan [2]time.Time, 2)
	c := second(t, true, func(w http.ResponseWriter, r *http.Request) {
		io.ReadFull(r.Body, make([]byte, 1<<10))
		first := time.Now()
		io.Copy(io.Discard, r.Body)
		read <- [2]time.Time{first, time.Now()}
		io.WriteString(w, role+hello+world+done)
	})
	trial(t, c, time.Now(), 1) // what opening a connection has written is over
	<-read
	zero := time.Now()
	r := trial(t, c, zero, 150_000) // 300 KB
	if r.Class != replay.OK {
		t.Fatalf("%+v", r)
	}
	got := <-read
	first, last := got[0], got[1]
	if at := zero.Add(time.Duration(r.WriteEnd.V)); at.Before(first) || at.After(last) {
		t.Errorf("written at %v, the server read from %v to %v", at, first, last)
	}
}

// The server takes 30 ms to the first token, from when it has the request: what the
// client says from sending is never less, however many share the connection.
func TestHTTP2FirstTokenNeverFlattered(t *testing.T) {
	const least = 30 * time.Millisecond
	c := second(t, true, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		time.Sleep(least)
		io.WriteString(w, role+hello+world+done)
	})
	trial(t, c, time.Now(), 1)
	zero := time.Now()
	var flying sync.WaitGroup
	results := make([]replay.Result, 40)
	for i := range results {
		flying.Go(func() { results[i] = trial(t, c, zero, 5) })
	}
	flying.Wait()
	for i, r := range results {
		if r.Class != replay.OK || r.Protocol != replay.HTTP2 {
			t.Fatalf("%+v", r)
		}
		checkOrder(t, &r)
		if took := time.Duration(r.FirstContent.V - r.WriteEnd.V); took < least {
			t.Errorf("request %d had its first token %v after it was sent, of a server that takes %v", i, took, least)
		}
	}
}

// What was read is stamped by the kernel also when another request of the
// connection was written since: that does not push the stamp back.
func TestFloorOfASharedConnection(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	c := newTap(a, newStamps())
	c.last.Store(5)
	c.wrote.Store(9)
	if c.floor() != 9 {
		t.Errorf("alone: %d", c.floor())
	}
	if c.many.on.Store(true); c.floor() != 5 {
		t.Errorf("shared: %d", c.floor())
	}
}

// The TLS settings are shared with others that speak HTTP/1.1, such as the scrape
// of metrics: the engine must not have its protocols offered by them.
func TestHTTP2LeavesTheTLSSettingsAlone(t *testing.T) {
	settings := &tls.Config{}
	s := engineMock(t, func(cfg *mock.Config) { cfg.TLS = &mock.TLS{} })
	c := client(t, s.URL(), by(EngineNet, func(c *Config) {
		trusting(s)(c)
		settings.RootCAs = c.TLS.RootCAs
		c.TLS = settings
	}))
	if r := sendOf(t, c, 5, 2); r.Protocol != replay.HTTP2 {
		t.Fatalf("%+v", r)
	}
	if p := strings.Join(settings.NextProtos, " "); p != "" {
		t.Errorf("the settings now offer %s", p)
	}
}
