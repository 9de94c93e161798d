package mock

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"reprise/trace/strictjson"
)

// scaleOrder is the body of POST /mock/scale.
type scaleOrder struct {
	Replicas    int     `json:"replicas"`
	ColdStartMS float64 `json:"cold_start_ms"`
}

// readScale reads {"replicas": n, "cold_start_ms": d}.
func readScale(body io.Reader) (Scale, error) {
	data, err := io.ReadAll(io.LimitReader(body, 4096))
	if err != nil {
		return Scale{}, fmt.Errorf("the body could not be read: %w", err)
	}
	var o scaleOrder
	if err := strictjson.Decode(data, &o); err != nil {
		return Scale{}, fmt.Errorf(`give {"replicas": n, "cold_start_ms": d}: %w`, err)
	}
	if !(o.ColdStartMS >= 0 && o.ColdStartMS <= float64(maxColdStart/time.Millisecond)) {
		return Scale{}, fmt.Errorf("cold_start_ms is %v, give 0 to %d", o.ColdStartMS, maxColdStart/time.Millisecond)
	}
	s := Scale{To: o.Replicas, ColdStart: micros(o.ColdStartMS * 1e3)}
	return s, s.validate()
}

// fleetState is what GET and POST /mock/scale answer: every replica that is there.
func (f *Fleet) state(now time.Duration) []byte {
	type replica struct {
		Number  int     `json:"number"`
		State   string  `json:"state"` // starting, serving, leaving
		ReadyMS float64 `json:"ready_in_ms"`
		Running int     `json:"running"`
		Waiting int     `json:"waiting"`
	}
	list := []replica{}
	for _, r := range f.Replicas() {
		state := "serving"
		switch {
		case r.Leaving:
			state = "leaving"
		case r.Ready > now:
			state = "starting"
		}
		list = append(list, replica{r.Number, state, max(0, float64(r.Ready-now)/1e6), r.Stats.Running, r.Stats.Waiting})
	}
	b, err := json.Marshal(map[string]any{"replicas": list})
	if err != nil {
		return nil // numbers and fixed words always encode
	}
	return append(b, '\n')
}
