package openai

import (
	"context"
	"time"

	"reprise/replay"
)

// connecting is what opening connections ahead may take in all.
const connecting = 5 * time.Second

// Connect opens n connections ahead of the run, all at the same time, for 5 s
// at most. It returns how many there are.
func (c *Client) Connect(ctx context.Context, n int) int {
	ctx, cancel := context.WithTimeout(ctx, min(c.cfg.MaxWarming, connecting))
	defer cancel()
	return c.engine.connect(ctx, n)
}

// whole is the receiver of an answer that is kept whole.
type whole struct {
	status int
	data   []byte
}

func (w *whole) head(status int, _ fields) bool {
	w.status = status
	return true
}

// maxList bounds the list of models.
const maxList = 4 << 20

func (w *whole) body(b []byte, _ int64) progress {
	w.data = append(w.data, b...)
	if len(w.data) >= maxList {
		return enough
	}
	return still
}

// get reads the list of models.
func (c *Client) get(ctx context.Context) (code int, body []byte, err error) {
	w := &whole{}
	q := &query{flight: replay.NewFlight(replay.NewTimer(time.Now())), get: true, limits: limits{-1, -1, -1}}
	err = c.engine.exchange(ctx, q, w)
	return w.status, w.data, err
}
