package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"reprise/replay/testdata/rig"
)

// call is one run of a client.
type call struct {
	url, dir  string
	start     string
	n, rounds int
}

// client is what is measured.
type client struct {
	name   string
	slow   bool
	args   func(*options, *call) []string
	decode func(out []byte, dir string) (seen, error)
	idle   float64 // s of CPU for a run of one request
}

func clients(o *options) (out []*client, err error) {
	for _, name := range strings.Split(o.only, ",") {
		if engine, stamps, ok := strings.Cut(name, "/"); ok {
			out = append(out, ours(engine, stamps))
		}
	}
	peers, err := rig.ParsePeers(o.peers)
	for _, p := range peers {
		out = append(out, peer(p))
	}
	return out, err
}

// ours is our client by an engine and with a kind of stamps.
func ours(engine, stamps string) *client {
	return &client{name: engine + "/" + stamps,
		args: func(o *options, c *call) []string {
			return []string{os.Args[0], "-role", "client", "-url", c.url, "-engine", engine, "-stamps", stamps, "-starts", c.start,
				"-n", strconv.Itoa(c.n), "-tokens", strconv.Itoa(o.tokens), "-rounds", strconv.Itoa(c.rounds), "-ttft", fmt.Sprint(o.ttft), "-itl", fmt.Sprint(o.itl)}
		},
		decode: func(out []byte, _ string) (s seen, err error) {
			return s, json.Unmarshal(out, &s)
		}}
}

// start takes what a client uses for one request.
func (c *client) start(o *options) error {
	if !c.slow { // reads its pages
		if _, err := measure(o, c, "sync", 1, 1); err != nil {
			return err
		}
	}
	r, err := measure(o, c, "sync", 1, 1)
	if err != nil {
		return err
	}
	c.idle = r.cpu * float64(o.tokens) / 1e6
	return nil
}

// measure runs a client once, against a mock of its own.
func measure(o *options, c *client, start string, n, rounds int) (row, error) {
	dir, err := os.MkdirTemp("", "overhead")
	if err != nil {
		return row{}, err
	}
	defer os.RemoveAll(dir)
	m, err := o.cores.Mock(rig.Law{TTFT: o.ttft, ITL: o.itl})
	if err != nil {
		return row{}, err
	}
	ctx, stop := context.WithTimeout(context.Background(), o.limit)
	defer stop()
	out, used, err := o.cores.Client(ctx, rig.Offline(), c.args(o, &call{url: m.URL, dir: dir, start: start, n: n, rounds: rounds})...)
	saw, stopErr := m.Stop()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return row{}, err
	}
	r := row{true: look(saw, n), rss: float64(used.RSS) / 1e6}
	r.cpu = (used.CPU - c.idle) * 1e6 / float64(max(r.true.n*o.tokens, 1))
	r.seen, err = c.decode(out, dir)
	return r, err
}
