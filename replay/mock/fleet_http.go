package mock

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
	"reprise/trace/strictjson"
)

// scaleOrder is the body of POST /mock/scale.
type scaleOrder struct {
	Replicas    int     `json:"replicas"`
	ColdStartMS float64 `json:"cold_start_ms"`
}

// readScale reads {"replicas": n, "cold_start_ms": d}.
func readScale(data []byte) (engine.Scale, error) {
	var o scaleOrder
	if err := strictjson.Decode(data, &o); err != nil {
		return engine.Scale{}, fmt.Errorf(`give {"replicas": n, "cold_start_ms": d}: %w`, err)
	}
	if !(o.ColdStartMS >= 0 && o.ColdStartMS <= float64(engine.MaxColdStart/time.Millisecond)) {
		return engine.Scale{}, fmt.Errorf("cold_start_ms is %v, give 0 to %d", o.ColdStartMS, engine.MaxColdStart/time.Millisecond)
	}
	s := engine.Scale{To: o.Replicas, ColdStart: time.Duration(math.Round(o.ColdStartMS * 1e6))}
	return s, s.Validate()
}

// scale carries out POST /mock/scale and answers with every replica there is.
func (h *Handler) scale(body []byte) *answer {
	s, err := readScale(body)
	if err != nil {
		return badRequest("", "%s", err.Error()).answer()
	}
	reply := make(chan []replicaState, 1)
	ok := h.driver.Post(func() {
		now := h.driver.Now()
		_ = h.fleet.Scale(now, s) // readScale has validated it
		reply <- states(h.fleet, now)
	})
	if !ok {
		return refusal(driver.ErrClosed).answer()
	}
	select {
	case list := <-reply:
		return jsonAnswer(http.StatusOK, map[string]any{"replicas": list})
	case <-h.driver.Stopped():
		return refusal(driver.ErrClosed).answer()
	}
}

// replicaState is a replica as /mock/scale shows it.
type replicaState struct {
	Number  int     `json:"number"`
	State   string  `json:"state"` // starting, serving, leaving
	ReadyMS float64 `json:"ready_in_ms"`
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
}

// states are all replicas of a fleet.
func states(f *engine.Fleet, now time.Duration) []replicaState {
	list := []replicaState{}
	for _, r := range f.Replicas() {
		state := "serving"
		switch {
		case r.Leaving:
			state = "leaving"
		case r.Ready > now:
			state = "starting"
		}
		list = append(list, replicaState{r.Number, state, max(0, float64(r.Ready-now)/1e6), r.Stats.Running, r.Stats.Waiting})
	}
	return list
}
