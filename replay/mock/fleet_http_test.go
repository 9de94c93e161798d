package mock

import (
	"encoding/json"
	"testing"
	"time"
)

func TestReadScale(t *testing.T) {
	s, err := readScale([]byte(`{"replicas": 3, "cold_start_ms": 1500.5}`))
	if err != nil || s.To != 3 || s.ColdStart != 1500500*time.Microsecond {
		t.Errorf("%+v, %v", s, err)
	}
	for _, body := range []string{"", "{}", `{"replicas":0}`, `{"replicas":2,"cold":1}`, `{"replicas":2,"cold_start_ms":-1}`,
		`{"replicas":2,"cold_start_ms":1e300}`, `{"replicas":"2"}`, `{"replicas":2,"replicas":3}`} {
		if _, err := readScale([]byte(body)); err == nil {
			t.Errorf("%s: accepted", body)
		}
	}
}

// TestScaleByHand: over HTTP, in fake time.
func TestScaleByHand(t *testing.T) {
	cfg := testConfig()
	cfg.Law = testLaw()
	bubble(t, cfg, func(t *testing.T, h *Handler) {
		states := func(body string) (status int, list []replicaState) {
			r := ask(t.Context(), h, "/mock/scale", body, 0)
			var v struct {
				Replicas []replicaState `json:"replicas"`
			}
			if err := json.Unmarshal(r.Body.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			return r.Code, v.Replicas
		}
		if code, list := states(`{"replicas":2,"cold_start_ms":1500}`); code != 200 || len(list) != 2 || list[0].State != "serving" || list[1].State != "starting" || list[1].ReadyMS != 1500 {
			t.Errorf("after the order: %d %+v", code, list)
		}
		time.Sleep(1600 * time.Millisecond)
		if code, list := states(`{"replicas":2,"cold_start_ms":0}`); code != 200 || len(list) != 2 || list[1].State != "serving" {
			t.Errorf("after the cold start: %d %+v", code, list)
		}
		if code, list := states(`{"replicas":1}`); code != 200 || len(list) != 1 {
			t.Errorf("scaled down: %d %+v", code, list)
		}
		if code, _ := states(`{"replicas":0}`); code != 400 {
			t.Errorf("no replicas: %d", code)
		}
	})
}
