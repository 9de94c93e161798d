package replay

import (
	"fmt"

	"reprise/trace"
	"reprise/trace/spec"
	"reprise/trace/strictjson"
)

// RunKind and RunVersion identify run.json.
const (
	RunKind    = "reprise.run"
	RunVersion = 1
)

// Run is run.json: what ran, where, how, and how it ended.
type Run struct {
	Kind        string        `json:"kind"`
	Version     int           `json:"version"`
	Tool        trace.Tool    `json:"tool"`
	Status      Status        `json:"status"`
	AbortReason string        `json:"abort_reason,omitempty"`
	StartedAt   string        `json:"started_at"` // RFC 3339, UTC: the one time of day in the results
	Trace       Input         `json:"trace"`
	Spec        *Input        `json:"spec,omitempty"`
	Endpoint    Endpoint      `json:"endpoint"`
	Flags       []string      `json:"flags"` // without secrets
	Mode        string        `json:"mode"`  // open_loop, closed_loop, ramp, sessions
	Shape       *Shape        `json:"shape,omitempty"`
	Clock       Clock         `json:"clock"`
	Environment Environment   `json:"environment"`
	SLO         []spec.SLO    `json:"slo"`
	Region      string        `json:"region"`
	Planned     int64         `json:"planned"`
	PlannedS    float64       `json:"planned_s"` // last scheduled instant, s
	WallS       float64       `json:"wall_s"`
	Outcomes    []Outcome     `json:"outcomes"` // every class; sums to Planned
	Cache       CacheMode     `json:"cache"`
	Notes       []string      `json:"notes"` // what could not be controlled
	Verdict     ClientVerdict `json:"client_verdict"`
	Path        *Path         `json:"path,omitempty"`
	Headroom    *Headroom     `json:"headroom,omitempty"`
	Shard       *Shard        `json:"shard,omitempty"`           // one of several client machines; nil: the only one
	ServerCut   *ServerCut    `json:"server_cut,omitempty"`      // it did not follow the server's metrics as long as the other machines need
	Salt        int64         `json:"salt,omitempty"`            // of the run's prompts
	Resent      int64         `json:"resent,omitempty"`          // requests sent a second time, on a new connection (--resend)
	WarmupSent  int           `json:"warmup_requests,omitempty"` // sent before the clock, of prompts that no job has; in no number
}

// Status says how a run ended.
type Status string

// Open tells whether the run did not come to its end: results may be missing.
func (s Status) Open() bool { return s == Running || s == Killed }

// The states of a run. Running is what a killed run leaves behind.
const (
	Running  Status = "running"
	Complete Status = "complete"
	Aborted  Status = "aborted"
	// Killed is a run that says running and whose process is gone. No run.json
	// has it: who reads one finds out.
	Killed Status = "killed"
)

// Input names an input artifact.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Endpoint is where the load went. URL has no user information and no query.
type Endpoint struct {
	URL       string `json:"url"`
	API       string `json:"api"`
	Model     string `json:"model"`
	Server    string `json:"server"`          // what the server calls itself, where it says
	Streaming bool   `json:"streaming"`       //
	IgnoreEOS bool   `json:"ignore_eos"`      // asked for and not refused
	Template  int32  `json:"template_tokens"` // tokens that the server's template adds, -1 when not calibrated
	Extra     string `json:"extra,omitempty"` // the user's own fields of the body, a JSON object
	Told
	Stated     []Stated `json:"server_times,omitempty"`       // all times that headers of answers give, of planned requests
	OtherTimes []string `json:"other_time_headers,omitempty"` // look like times, of a unit that is not known
	Spoken     []Spoken `json:"protocols,omitempty"`          // planned requests by what was spoken; absent in older results, while it runs, and of a killed run
}

// Told names the response headers that columns of requests.parquet are from, in
// lower case, in the order in which they are taken, with commas between; empty
// where there was none. "id of the answer" is that of its body.
type Told struct {
	RequestID  string `json:"request_id_header,omitempty"`  // server_request_id
	ServerTime string `json:"server_time_header,omitempty"` // server_time_us
}

// Stated is a time that the server gives in the headers of its answers: the header,
// in lower case, and of Server-Timing the metric's name. The percentiles are upper
// bounds, at most 1/16 above.
type Stated struct {
	Name  string  `json:"name"`
	N     int64   `json:"n"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
}

// Clock describes how instants were held and stamped.
type Clock struct {
	Schedule string `json:"schedule"` // absolute, slots (closed loop), absolute+think (sessions)
	Wait     string `json:"wait"`     // timerfd, sleep
	Stamps   string `json:"stamps"`   // of what arrives: kernel, user, or both where the kernel left some unstamped
}

// Environment is the client machine.
type Environment struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPUs  int    `json:"cpus"`
	Go    string `json:"go"`
	Procs int    `json:"gomaxprocs"`
}

// Outcome is the number of planned requests of one class, with the reason of
// the first where there is one: what the server or the client said, with no key.
type Outcome struct {
	Class  string `json:"class"`
	N      int64  `json:"n"`
	Reason string `json:"reason,omitempty"`
}

// Path is what was measured of the way to the server before the run.
type Path struct {
	HandshakeMS float64 `json:"tcp_handshake_ms"` // median: one round trip
	Handshakes  int     `json:"tcp_handshakes"`
	OneTokenMS  float64 `json:"one_token_ms"`           // from sending to the first token, of a request alone; 0: not known
	Bunched     bool    `json:"bunched"`                // an answer alone arrived in bunches: something holds it back
	EventsAlone int     `json:"events_alone,omitempty"` // of an answer alone; with its reads, what events share a read without any load
	ReadsAlone  int     `json:"reads_alone,omitempty"`
}

// shared is the share of events that came in a read with the one before, in an
// answer alone; 0 where that is not known.
func (p *Path) shared() float64 {
	if p == nil || p.EventsAlone == 0 {
		return 0
	}
	return 1 - float64(p.ReadsAlone)/float64(p.EventsAlone)
}

// CacheMode says how the run treats the server's prefix cache.
type CacheMode struct {
	Mode            string  `json:"mode"`              // workload, none, keep
	ExpectedHitRate float64 `json:"expected_hit_rate"` // share of prompt tokens that an unbounded cache could serve
	// Sent is what that is made of, by load point, once the run is over; absent
	// where the rate is that of the plan: while it runs, and of one of several machines.
	Sent []SentHits `json:"sent,omitempty"`
}

// ClientVerdict says whether the client may be believed: clean (all that counts
// of send lag, kernel delay and heartbeat at most 1 ms at p99), usable (at most
// 5 ms, printed beside every latency), client_limited (anything worse, headlines
// withheld), or unknown when nothing was sent. See Lags.Judge.
type ClientVerdict struct {
	Verdict     string   `json:"verdict"`
	LagP50MS    float64  `json:"send_lag_p50_ms"`
	LagP99MS    float64  `json:"send_lag_p99_ms"`
	LagMaxMS    float64  `json:"send_lag_max_ms"`
	Late        int64    `json:"sent_over_5ms_late"`
	Reason      string   `json:"reason"`
	Lacking     int64    `json:"could_not_send,omitempty"`              // requests that this machine had not the descriptors, ports or memory for
	KernelP99MS *float64 `json:"kernel_delay_p99_ms,omitempty"`         // from the kernel's receipt to the read; absent where not measured
	HeartP99MS  *float64 `json:"heartbeat_p99_ms,omitempty"`            // lateness of a 1 ms heartbeat over the run
	HeartMaxMS  *float64 `json:"heartbeat_max_ms,omitempty"`            // the longest stall of the process
	Shared      *float64 `json:"events_sharing_a_read,omitempty"`       // share of events that came in a read with the one before
	SharedAlone *float64 `json:"events_sharing_a_read_alone,omitempty"` // the same of an answer alone, before the run
}

// The client verdicts.
const (
	Clean         = "clean"
	Usable        = "usable"
	ClientLimited = "client_limited"
	NoVerdict     = "unknown"
)

// EncodeRun returns run.json.
func EncodeRun(r *Run) ([]byte, error) { return strictjson.Encode(r) }

// DecodeRun reads run.json strictly, and checks that the outcomes of a
// complete run add up to what was planned.
func DecodeRun(data []byte) (*Run, error) {
	var r Run
	if err := strictjson.Decode(data, &r); err != nil {
		return nil, fmt.Errorf("run.json: %w", err)
	}
	if r.Kind != RunKind || r.Version != RunVersion {
		return nil, fmt.Errorf("run.json: kind %q version %d, this build reads %q version %d", r.Kind, r.Version, RunKind, RunVersion)
	}
	var n int64
	for _, o := range r.Outcomes {
		n += o.N
	}
	if r.Status != Running && r.Status != Complete && r.Status != Aborted {
		return nil, fmt.Errorf("run.json: the status is running, complete or aborted, not %q", r.Status)
	}
	if r.Status != Running && n != r.Planned {
		return nil, fmt.Errorf("run.json: %d requests planned but the outcomes add up to %d", r.Planned, n)
	}
	return &r, nil
}
