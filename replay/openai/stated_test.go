package openai

import (
	"io"
	"net/http"
	"reflect"
	"testing"

	"reprise/replay"
)

// Of several times that a server gives each is kept by its name, of the requests of
// the plan alone; one of an unknown unit is named.
func TestTimesByName(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		url := start(t, func(w http.ResponseWriter, _ *http.Request) {
			for name, v := range map[string]string{"Server-Timing": `queue;dur=12.5, prefill;desc="a";dur=80, cache`, "Openai-Processing-Ms": "123", "X-Queue-Time": "7",
				"X-Groq-Timing": "1", "X-Ratelimit-Reset-Time": "5", "X-Ms-Client-Request-Id": "7f3a", "X-Request-Timeout": "600", "Timing-Allow-Origin": "*1"} {
				w.Header().Set(name, v)
			}
			io.WriteString(w, role+hello+world+done)
		})
		c := client(t, url, by(engine, nil))
		c.extra(t.Context(), 1, 5, 1)
		for range 3 {
			if r := sendOf(t, c, 5, 2); r.Class != replay.OK || r.ServerTime.V != 123_000 {
				t.Fatalf("%+v", r)
			}
		}
		times, others := c.Stated()
		want := map[string]float64{"openai-processing-ms": 123, "server-timing queue": 12.5, "server-timing prefill": 80, "x-queue-time": 7}
		for _, x := range times {
			v, ok := want[x.Name]
			if !ok || x.N != 3 || x.P50MS < v || x.P50MS > v*17/16 || x.P99MS != x.P50MS {
				t.Errorf("%+v, want %v", x, v)
			}
			delete(want, x.Name)
		}
		if len(want) > 0 || !reflect.DeepEqual(others, []string{"x-groq-timing"}) {
			t.Errorf("without %v; others %v", want, others)
		}
	})
}
