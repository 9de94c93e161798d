package mock

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func judgeOf(t *testing.T, seed uint64, texts ...string) *faults {
	t.Helper()
	var c Config
	withFaults(t, texts...)(&c)
	var f faults
	f.set(c.Faults, seed)
	return &f
}

// TestProbability: the share of requests is p within 4 standard deviations,
// repeats by seed, and is drawn for each fault by itself.
func TestProbability(t *testing.T) {
	const n = 200000
	for _, p := range []float64{0.001, 0.1, 0.5, 0.99} {
		f := judgeOf(t, 7, "reset@p="+jsonNumber(p), "no_done@p="+jsonNumber(p))
		again := judgeOf(t, 7, "reset@p="+jsonNumber(p), "no_done@p="+jsonNumber(p))
		other := judgeOf(t, 8, "reset@p="+jsonNumber(p))
		var hits, both, differ float64
		for k := int64(1); k <= n; k++ {
			v := f.decide(chatPath, k, 0)
			if v != retarget(again.decide(chatPath, k, 0), f) {
				t.Fatalf("request %d differs between two runs", k)
			}
			if v.end != nil {
				hits++
				if v.noDone {
					both++
				}
			}
			if w := other.decide(chatPath, k, 0); (w.end != nil) != (v.end != nil) {
				differ++
			}
		}
		within(t, "share", hits, n, p)
		within(t, "both faults", both, n, p*p)
		within(t, "differing by seed", differ, n, 2*p*(1-p))
	}
}

// retarget makes verdicts of two equal lists comparable.
func retarget(v verdict, f *faults) verdict {
	if v.end != nil {
		v.end = &f.list[0]
	}
	return v
}

func jsonNumber(p float64) string { return strings.TrimSpace(setter{"p": &p}.text([]string{"p"})[2:]) }

func within(t *testing.T, what string, hits, n, p float64) {
	t.Helper()
	if sigma := math.Sqrt(n * p * (1 - p)); math.Abs(hits-n*p) > 4*sigma {
		t.Errorf("%s: %g of %g, want %g ± %g", what, hits, n, n*p, 4*sigma)
	}
}

// TestSelectors: ranges and windows are exact, and all selectors must hold.
func TestSelectors(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		fault string
		path  string
		n     int64
		at    time.Duration
		want  bool
	}{
		{"reset", chatPath, 1, 0, true}, {"reset", completionsPath, 1 << 40, 1000 * s, true},
		{"http_500", "/v1/models", 1, 0, false}, {"http_500@path=/v1/models", "/v1/models", 1, 0, true},
		{"http_500@path=/v1/*", chatPath, 1, 0, true}, {"http_500@path=/v1/*", "/metrics", 1, 0, false}, {"http_500@path=*", "/mock/law", 1, 0, false},
		{"reset@n=100-120", chatPath, 99, 0, false}, {"reset@n=100-120", chatPath, 100, 0, true},
		{"reset@n=100-120", chatPath, 120, 0, true}, {"reset@n=100-120", chatPath, 121, 0, false},
		{"reset@n=1,5,9-12,100-", chatPath, 5, 0, true}, {"reset@n=1,5,9-12,100-", chatPath, 8, 0, false}, {"reset@n=1,5,9-12,100-", chatPath, 1 << 50, 0, true},
		{"reset@t=10s-15s", chatPath, 1, 10*s - 1, false}, {"reset@t=10s-15s", chatPath, 1, 10 * s, true},
		{"reset@t=10s-15s", chatPath, 1, 15*s - 1, true}, {"reset@t=10s-15s", chatPath, 1, 15 * s, false},
		{"reset@t=10s-", chatPath, 1, 1e6 * s, true},
		{"reset@t=10s-15s,every=1m", chatPath, 1, 132 * s, true}, {"reset@t=10s-15s,every=1m", chatPath, 1, 136 * s, false},
		{"reset@n=3,t=10s-15s", chatPath, 3, 9 * s, false}, {"reset@n=3,t=10s-15s", chatPath, 2, 12 * s, false}, {"reset@n=3,t=10s-15s", chatPath, 3, 12 * s, true},
	} {
		v := judgeOf(t, 1, c.fault).decide(c.path, c.n, c.at)
		if got := v != (verdict{}); got != c.want {
			t.Errorf("%s on %s, request %d at %v: %v", c.fault, c.path, c.n, c.at, got)
		}
	}
}

// TestVerdicts: delays add up and act beside others; the first of those that
// end an answer does.
func TestVerdicts(t *testing.T) {
	f := judgeOf(t, 1, "delay@for=1s", "delay@for=2s", "no_done", "cut@after=2", "reset", "wrong_usage", "wrong_usage@tokens=-2", "stall@for=1s", "slow_accept@for=3s,n=2", "tls_failure@n=3")
	v := f.decide(chatPath, 1, 0)
	if v.delay != 3*time.Second || v.end != &f.list[3] || v.stall != &f.list[7] || !v.noDone || v.usage != 5 || v.stop != nil {
		t.Errorf("%+v", v)
	}
	f = judgeOf(t, 1, "http_500@n=2", "html@n=1-2", "hang")
	for n, want := range []int{1, 0, 2} {
		if v := f.decide(chatPath, int64(n+1), 0); v.stop != &f.list[want] {
			t.Errorf("request %d: %+v", n+1, v.stop)
		}
	}
}

// TestConnections: faults of connections count connections.
func TestConnections(t *testing.T) {
	f := judgeOf(t, 1, "slow_accept@for=3s,n=2-3", "tls_failure@n=3")
	for i, want := range []struct {
		wait   time.Duration
		broken bool
	}{{0, false}, {3 * time.Second, false}, {3 * time.Second, true}, {0, false}} {
		if wait, broken := f.connection(0); wait != want.wait || broken != want.broken {
			t.Errorf("connection %d: %v, %v", i+1, wait, broken)
		}
	}
}

func TestParseFault(t *testing.T) {
	f, err := ParseFault("http_429@n=100-120,7,t=1s-2s,every=1m,retry_after=2,rate_limit")
	want := Fault{Kind: "http_429", N: Numbers{{100, 120}, {7, 7}}, T: Window{Span(time.Second), Span(2 * time.Second)}, Every: Span(time.Minute), RetryAfter: 2, RateLimit: true}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, %v", f, err)
	}
	for text, says := range map[string]string{
		"rest@p=1": `unknown fault "rest"; did you mean "reset"?`, "http_42": "give http_400 to http_599", "http_200": "give http_400",
		"reset@q=1": `unknown key "q"`, "reset@afer=1": `did you mean "after"?`, "reset@p=2": "p is 2", "reset@p=NaN": "p is NaN", "reset@p=x": "p: not a value",
		"reset@n=0": "is not numbers", "reset@n=5-4": "is not numbers", "reset@n=-4": "is not numbers", "reset@t=5s": "is not a window", "reset@t=5s-5s": "is not a window",
		"reset@for=1s": "takes no for", "delay": "give for", "delay@for=-1s": "is not a length", "reset@after=-1": "after is -1",
		"http_429@retry_date": "needs retry_after", "reset@p=1,p=1": "given twice", "slow_accept@for=1s,path=/x": "has no path",
		"reset@path=/health": "none of", "reset@t=1s-2s,every=1s": "every needs a window", "http_500@body=xml": "body is not one of", "": "unknown fault",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	list, err := ParseFaults([]byte(`# two
faults:
  - kind: reset
    p: 0.01
    after: 5
  - {kind: http_503, n: "3,7-9", t: 10s-15s, retry_after: 1.5, message: "a, b"}
  - {kind: stall, n: 4, for: 3s}
`))
	want := []Fault{
		{Kind: "reset", P: 0.01, After: 5},
		{Kind: "http_503", N: Numbers{{3, 3}, {7, 9}}, T: Window{Span(10 * time.Second), Span(15 * time.Second)}, RetryAfter: 1.5, Message: "a, b"},
		{Kind: "stall", N: Numbers{{4, 4}}, For: Span(3 * time.Second)},
	}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	for text, says := range map[string]string{
		"": "no YAML document", "faults: []": "lists none", "faults:\n- kind: reset\n  afer: 1\n": `line 3: unknown key "afer"; did you mean "after"?`,
		"faults:\n- kind: rest\n": `number 1: unknown fault "rest"`, "faults:\n- kind: stall\n  for: soon\n": `"soon" is not a length of time`,
	} {
		if _, err := ParseFaults([]byte(text)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseFaults(f *testing.F) {
	f.Add([]byte("faults:\n- kind: reset\n  p: 0.01\n  n: 1,5-9\n  t: 1s-2s\n"))
	f.Add([]byte("faults:\n- {kind: http_429, retry_after: 2, retry_date: true}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseFaults(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		for i := range list {
			if err := list[i].Validate(); err != nil {
				t.Fatal(err)
			}
		}
		var all faults
		all.set(list, 1)
		all.decide(chatPath, 1, 0)
	})
}

// FuzzParseFault: what is read is written in a form that reads the same.
func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"reset@p=0.01,after=5", "http_429@n=100-120,7,retry_after=2,rate_limit", "stall@t=10s-15s,every=1m,for=3s", "error_event@after=1,message=x", "gzip"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseFault(text)
		if err != nil {
			return
		}
		b, err := ParseFault(a.String())
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q: %+v, written as %q: %+v, %v", text, a, a.String(), b, err)
		}
	})
}
