package report

import (
	"reprise/replay"
	"reprise/trace"
)

// Verdict is the answer to a limit, or to all of them.
type Verdict string

// The verdicts. NoLimits says that none was agreed.
const (
	Met       Verdict = "met"
	Missed    Verdict = "missed"
	CannotSay Verdict = "cannot_say"
	NoLimits  Verdict = "no_limits"
)

// Summary is what one load point of one run at one endpoint came to.
type Summary struct {
	Name     string           `json:"name"` // tells it from the others of a report
	Label    string           `json:"label"`
	Point    int32            `json:"point"`
	Repeats  int              `json:"repeats"`
	Source   Source           `json:"source"`
	Verdict  Verdict          `json:"verdict"`
	Reason   string           `json:"reason"`
	Load     Load             `json:"load"`
	Outcomes []replay.Outcome `json:"outcomes"` // every class; sums to load.planned less load.without_result
	SLO      []SLOResult      `json:"slo"`
	Goodput  Goodput          `json:"goodput"`
	Latency  []Latency        `json:"latency"`
	Tokens   Tokens           `json:"tokens"`
	Streams  Streams          `json:"streams"`
	Cache    Cache            `json:"cache"`
	Client   Client           `json:"client"`
	Path     Path             `json:"path"`
	Server   *Server          `json:"server,omitempty"`
	Stated   *Stated          `json:"server_stated,omitempty"`
	Notes    []string         `json:"notes"` // what could not be controlled, and what to know of these numbers
	BinS     int64            `json:"bin_s"`
	Bins     []Bin            `json:"over_time"`
	CDFs     []CDF            `json:"cdf"`
	named    bool             // Input.Named
	span     stretch          // of the measured phase
}

// stretch is the first and the last planned instant and the last instant of all, in
// seconds on the run's clock.
type stretch struct{ first, planned, end float64 }

// Source says what was run.
type Source struct {
	Tool        trace.Tool         `json:"tool"`
	Status      replay.Status      `json:"status"`
	AbortReason string             `json:"abort_reason,omitempty"`
	StartedAt   string             `json:"started_at"`
	Trace       replay.Input       `json:"trace"`
	Spec        *replay.Input      `json:"spec,omitempty"`
	Endpoint    replay.Endpoint    `json:"endpoint"`
	Name        string             `json:"endpoint_label"`
	Flags       []string           `json:"flags"`
	Mode        string             `json:"mode"`
	Shape       *replay.Shape      `json:"shape,omitempty"`
	Clock       replay.Clock       `json:"clock"`
	Environment replay.Environment `json:"environment"`
	Region      string             `json:"region"`
	WallS       float64            `json:"wall_s"`
}

// Load is what was offered and what came back, over the measured phase.
// Offered is (n−1) over the time from the first to the last planned instant;
// completed counts until the last answer (or, where that is later, one gap past
// the last planned instant), so it is lower when answers are slow and never above
// what was offered;
// in a closed loop over the part in which all its slots went on (SteadyS, see
// replay.Pace), where that is long enough. Goodput and tokens are over the same.
type Load struct {
	Planned      int64    `json:"planned"`
	OK           int64    `json:"ok"`
	Failed       int64    `json:"failed"`         // every other class
	Missing      int64    `json:"without_result"` // planned in a run that did not end, and nothing is known of them
	RateLimited  int64    `json:"http_429"`
	Warmup       int64    `json:"warmup"` // sent besides, in no number here
	Drain        int64    `json:"drain"`  //
	WindowS      float64  `json:"window_s"`
	SpanS        float64  `json:"span_s"` // first planned instant to last answer, or to one gap past the last planned one where that is later
	SteadyS      float64  `json:"steady_s,omitempty"`
	OfferedPerS  *float64 `json:"offered_per_s"`
	DonePerS     *float64 `json:"completed_per_s"`
	PeakInFlight int64    `json:"peak_in_flight"`
	RetryAfterN  int64    `json:"retry_after"`
	RetryAfterMS int64    `json:"retry_after_max_ms"`

	byPlan bool // SpanS is as long as the plan, not until the last answer
	timed  bool // a closed loop by time: how many requests it takes is not planned
}

// Latency is one metric on one clock, over answered requests. N requests (for
// ITL: gaps) are behind it; Without answered requests had no such value.
type Latency struct {
	Metric      string       `json:"metric"` // ttft, ttfa, tpot, itl, e2e
	Clock       string       `json:"clock"`  // sched, write_end; empty where it is a difference
	N           int64        `json:"n"`
	Without     int64        `json:"without"`
	Percentiles []Percentile `json:"percentiles"`
	MaxMS       *float64     `json:"max_ms"`
	LessMS      float64      `json:"less_by_up_to_ms"` // what the client may have added to a single value, p99; each percentile has its own
	MoreMS      float64      `json:"more_by_up_to_ms"` // and what it may have taken away

	closed bool // of a closed loop: there is no planned instant
}

// Goodput is the share and rate of planned requests that met every limit. A
// request that was not answered never does.
type Goodput struct {
	Limits []string `json:"limits"` // per request
	Good   *int64   `json:"good"`   // nil, like the rest, when withheld or without limits
	Share  *float64 `json:"share_of_planned"`
	PerS   *float64 `json:"per_s"`
	Note   string   `json:"note,omitempty"`
}

// Tokens is the token traffic by the server's usage.
type Tokens struct {
	InPerS       *float64 `json:"input_per_s"`
	OutPerS      *float64 `json:"output_per_s"`
	InN          int64    `json:"input_counted"` // answered requests whose usage gave it
	OutN         int64    `json:"output_counted"`
	InAsked      Asked    `json:"input_asked"`
	OutAsked     Asked    `json:"output_asked"`
	OutShort     int64    `json:"output_shorter"`
	UsageN       int64    `json:"usage_and_local"` // both counts known
	UsageEqual   int64    `json:"usage_equals_local"`
	UsageSum     int64    `json:"usage_sum"`
	LocalSum     int64    `json:"local_sum"`
	UsageFar     int64    `json:"usage_far_from_local,omitempty"` // of UsageN: too far apart for both to be true, so there is no TPOT
	Doubt        string   `json:"doubt,omitempty"`                // why nothing counted in output tokens can be believed; OutPerS is nil then
	TPOTByLocal  int64    `json:"tpot_by_local_count"`
	OneToken     int64    `json:"answers_of_one_token"`
	NotCountable int64    `json:"answers_without_count"`
}

// Asked compares tokens planned with tokens counted, over N requests.
type Asked struct {
	N     int64 `json:"n"`
	Asked int64 `json:"asked"`
	Got   int64 `json:"got"`
	Equal int64 `json:"equal"`
	Local int64 `json:"by_local_count,omitempty"` // of N: counted here, since the server gave no usage
}

// Streams says how answers arrived.
type Streams struct {
	N              int64     `json:"n"`
	Buffered       int64     `json:"buffered"`             // 90 % of events in three reads
	Few            int64     `json:"few_events,omitempty"` // not Buffered, of so few events that there is no time per token
	TokensPerEvent *float64  `json:"tokens_per_event"`
	EventsPerRead  *float64  `json:"events_per_read"`
	FirstGap       *FirstGap `json:"long_first_gap,omitempty"` // nil: not a habit of the server
}

// Cache compares the prefix cache's measured hit rate with what the trace
// would allow an unbounded cache. Rates are shares of prompt tokens.
type Cache struct {
	Mode     string   `json:"mode"`
	Expected float64  `json:"expected_hit_rate"`
	Measured *float64 `json:"measured_hit_rate"`
	N        int64    `json:"n"`
	Absurd   int64    `json:"above_prompt"` // answers whose usage has more cached tokens than the prompt: nothing is measured then
}

// Client says whether the client may be believed, and why.
type Client struct {
	Verdict      string   `json:"verdict"`
	Reason       string   `json:"reason"`
	PlusMinusMS  float64  `json:"plus_minus_ms"` // what it may have been late with, and with its stamps, p99: the error of TTFT and E2E; each metric has its own
	LagN         int64    `json:"send_lag_n"`
	LagP50MS     *float64 `json:"send_lag_p50_ms"`
	LagP99MS     *float64 `json:"send_lag_p99_ms"`
	LagMaxMS     *float64 `json:"send_lag_max_ms"`
	Late         int64    `json:"sent_over_5ms_late"`
	KernelP99MS  *float64 `json:"kernel_delay_p99_ms,omitempty"` // of the whole run, like those below; see replay.ClientVerdict
	HeartP99MS   *float64 `json:"heartbeat_p99_ms,omitempty"`
	HeartMaxMS   *float64 `json:"heartbeat_max_ms,omitempty"`
	Shared       *float64 `json:"events_sharing_a_read,omitempty"`
	SharedAlone  *float64 `json:"events_sharing_a_read_alone,omitempty"`
	Resent       int64    `json:"resent,omitempty"`         // requests sent a second time
	Lacking      int64    `json:"could_not_send,omitempty"` // requests that the client's machine had not the descriptors, ports or memory for
	Headroom     *float64 `json:"headroom_times,omitempty"` // of the planned events/s, by the test before the run
	HeadroomText string   `json:"headroom,omitempty"`       // as it was said before the run: 8.5x, none: late in the test
	HeadroomWhy  string   `json:"headroom_why,omitempty"`
	Health       *Health  `json:"health,omitempty"`
}

// Withheld reports whether headline numbers must not be given.
func (c Client) Withheld() bool { return c.Verdict == replay.ClientLimited }

// fault is why they are withheld.
func (c Client) fault() string {
	if c.Lacking > 0 {
		return "the client could not send all requests"
	}
	return "the client was late"
}

// Health is the worst second of the client, by its own health rows.
type Health struct {
	Seconds   int      `json:"seconds"`
	KernelMS  *float64 `json:"worst_kernel_p99_ms"`
	HeartMS   *float64 `json:"worst_heartbeat_p99_ms"`
	CPU       float64  `json:"most_cpu_cores"`
	GC        int64    `json:"gc_cycles"`
	Throttled *int64   `json:"throttled_periods"`
	Steal     *float64 `json:"worst_steal_share"`
	Files     *Used    `json:"open_files,omitempty"`
	Ports     *Used    `json:"tcp_sockets,omitempty"`
}

// Used is the most of something that a second saw, and its limit.
type Used struct {
	Most  int64 `json:"most"`
	Limit int64 `json:"limit"`
}

// Bin is one slice of the run's clock. Offered and lag are by planned instant,
// completed and failed by end; TTFT is of the requests planned in the bin.
type Bin struct {
	TS          int64    `json:"t_s"`
	Offered     int64    `json:"offered"`
	Completed   int64    `json:"completed"`
	Failed      int64    `json:"failed"`
	RateLimited int64    `json:"http_429"`
	InFlight    int64    `json:"in_flight"` // at the end of the bin
	N           int64    `json:"ttft_n"`
	TTFTP50     *float64 `json:"ttft_p50_ms"`
	TTFTP99     *float64 `json:"ttft_p99_ms"`
	LagP50      *float64 `json:"send_lag_p50_ms"`
	LagP99      *float64 `json:"send_lag_p99_ms"`
	LagMax      *float64 `json:"send_lag_max_ms"`
}

// CDF is the share of values at most MS, at up to a few hundred points.
type CDF struct {
	Metric string     `json:"metric"`
	Clock  string     `json:"clock"`
	N      int64      `json:"n"`
	Points []CDFPoint `json:"points"`
}

// CDFPoint says that Share of the values are at most MS.
type CDFPoint struct {
	MS    float64 `json:"ms"`
	Share float64 `json:"share"`
}

// latency finds a metric, an empty one when it was not measured.
func (s *Summary) latency(metric, clock string) Latency {
	for _, l := range s.Latency {
		if l.Metric == metric && l.Clock == clock {
			return l
		}
	}
	return Latency{Metric: metric, Clock: clock}
}

func (l Latency) percentile(p float64) *float64 { return l.at(p).MS }

func (l Latency) at(p float64) Percentile {
	for _, x := range l.Percentiles {
		if x.P == p {
			return x
		}
	}
	return Percentile{P: p}
}
