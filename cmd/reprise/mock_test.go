package main

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// talkBuffer is stderr that tells when a line has come.
type talkBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	url  chan string
}

var urlForm = regexp.MustCompile(`at (http://\S+)`)

func (b *talkBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if m := urlForm.FindStringSubmatch(string(p)); m != nil {
		b.url <- m[1]
	}
	return len(p), nil
}

// The mock serves until it is interrupted, and then ends well.
func TestMockServesUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	talk := &talkBuffer{url: make(chan string, 1)}
	code := make(chan int)
	go func() {
		code <- run(ctx, []string{"mock", "--listen", "127.0.0.1:0"}, stdio{in: strings.NewReader(""), out: talk, err: talk})
	}()
	var url string
	select {
	case url = <-talk.url:
	case <-time.After(time.Minute):
		t.Fatal("the mock does not say where it serves")
	}
	resp, err := http.Get(url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("models answers %d", resp.StatusCode)
	}
	cancel()
	if c := <-code; c != exitDone {
		t.Fatalf("exit code %d: %s", c, talk.text.String())
	}
}
