package replay

import (
	"iter"
	"sync"

	"reprise/trace"
	"reprise/trace/table"
)

// Result is what became of one planned request. Times are in nanoseconds from
// the run's zero, absent where a point was not reached. Headline latency runs
// from Sched; the one from WriteEnd stands beside it.
type Result struct {
	Row      int64  // row of the trace
	Point    int32  // load point of the run matrix, 0 for a single run
	Endpoint string // label of the endpoint
	Repeat   int32  // repetition, from 0
	Phase    Phase

	Sched        int64            // when the plan wanted it sent
	Dispatch     trace.Opt[int64] // when the clock let it go
	ConnReady    trace.Opt[int64] // when a connection was ready
	WriteEnd     trace.Opt[int64] // when its bytes were handed to the kernel
	FirstByte    trace.Opt[int64] // first byte of the response
	FirstEvent   trace.Opt[int64] // first SSE event
	FirstContent trace.Opt[int64] // first event with content, reasoning or a tool call
	FirstAnswer  trace.Opt[int64] // first event with content after reasoning
	LastContent  trace.Opt[int64]
	End          trace.Opt[int64]

	DNS, TCP, TLS trace.Opt[int64] // µs spent, absent on a reused connection
	Reused        trace.Opt[bool]

	Class        Class
	HTTP         trace.Opt[int16]
	RetryAfterMS trace.Opt[int64]

	InAsked  trace.Opt[int32] // prompt tokens planned
	InUsage  trace.Opt[int32] // prompt tokens by the server's usage
	OutAsked trace.Opt[int32] // output tokens planned
	OutUsage trace.Opt[int32] // output tokens by usage
	OutLocal trace.Opt[int32] // output tokens by our tokenizer: of the answer's text, without tokens that no text shows
	Cached   trace.Opt[int32] // cached prompt tokens by usage
	OutChars trace.Opt[int32] // Unicode characters received
	NEvents  int32            // events with content
	NReads   int32            // reads of the socket that brought them
	Finish   trace.Finish

	ServerRequestID string
	ServerTime      trace.Opt[int64] // µs, where a header states it
	Gaps            []int32          // µs between content events, in order

	Protocol string // HTTP1 or HTTP2, as it was spoken; empty where there was no connection; counted, not stored

	Far  *Far  // what a mock with stamps says of the answer, for a self-test; not stored
	Said *Said // the text of the answer, until its tokens are counted; not stored

	// Not stored: one line on why it failed, and whether every other request
	// would fail alike (nobody listens, the key or the model is wrong).
	Reason   string
	Hopeless bool
}

// Far is what the far end says of an answer when it is a mock that stamps
// (reprise mock --stamps), and what reading it took here.
type Far struct {
	Arrived int64   // when its kernel had the request, Unix ns of its clock; 0: not known
	Sent    []int64 // when it sent each event with content, Unix ns of its clock
	Read    []int64 // from the stamp of each to when this process looked at it, ns
}

// Phase is the part of a run that a request belongs to.
type Phase uint8

// The phases; only Measure is reported.
const (
	Warmup Phase = iota
	Measure
	Drain
)

var phaseNames = []string{"warmup", "measure", "drain"}

func (p Phase) String() string { return phaseNames[p] }

// Class is the outcome of a request. Every planned request has exactly one.
type Class uint8

// The outcome classes of artifacts.md §4.
const (
	OK Class = iota
	HTTP429
	Overload // 503, 529
	HTTP4xx
	HTTP5xx
	Connect
	TLSError
	TimeoutFirstToken
	TimeoutIdle
	TimeoutTotal
	Truncated
	StreamError
	NoDone
	Cancelled
	Unsent
	classes // their number
)

var classNames = []string{"ok", "http_429", "overload", "http_4xx", "http_5xx", "connect", "tls", "timeout_first_token",
	"timeout_idle", "timeout_total", "truncated", "stream_error", "no_done", "cancelled", "unsent"}

func (c Class) String() string { return classNames[c] }

// Classes returns every class in the order of reports.
func Classes() []Class {
	out := make([]Class, classes)
	for i := range out {
		out[i] = Class(i)
	}
	return out
}

// requestTable is requests.parquet; built once.
var requestTable = sync.OnceValue(newRequestTable)

func newRequestTable() *table.Table[Result] {
	type r = Result
	type t = trace.Opt[int64]
	type n = trace.Opt[int32]
	return table.New("requests",
		table.Int("row", func(q *r) *int64 { return &q.Row }),
		table.Int("point", func(q *r) *int32 { return &q.Point }),
		table.OptString("endpoint", func(q *r) *string { return &q.Endpoint }),
		table.Int("repeat", func(q *r) *int32 { return &q.Repeat }),
		table.Enum("phase", phaseNames, func(q *r) *Phase { return &q.Phase }),
		table.Int("sched", func(q *r) *int64 { return &q.Sched }),
		table.OptInt("dispatch", func(q *r) *t { return &q.Dispatch }),
		table.OptInt("conn_ready", func(q *r) *t { return &q.ConnReady }),
		table.OptInt("write_end", func(q *r) *t { return &q.WriteEnd }),
		table.OptInt("first_byte", func(q *r) *t { return &q.FirstByte }),
		table.OptInt("first_event", func(q *r) *t { return &q.FirstEvent }),
		table.OptInt("first_content", func(q *r) *t { return &q.FirstContent }),
		table.OptInt("first_answer", func(q *r) *t { return &q.FirstAnswer }),
		table.OptInt("last_content", func(q *r) *t { return &q.LastContent }),
		table.OptInt("end", func(q *r) *t { return &q.End }),
		table.OptInt("dns_us", func(q *r) *t { return &q.DNS }),
		table.OptInt("tcp_us", func(q *r) *t { return &q.TCP }),
		table.OptInt("tls_us", func(q *r) *t { return &q.TLS }),
		table.OptBool("reused", func(q *r) *trace.Opt[bool] { return &q.Reused }),
		table.Enum("class", classNames, func(q *r) *Class { return &q.Class }),
		table.OptInt("http", func(q *r) *trace.Opt[int16] { return &q.HTTP }),
		table.OptInt("retry_after_ms", func(q *r) *t { return &q.RetryAfterMS }),
		table.OptInt("in_asked", func(q *r) *n { return &q.InAsked }),
		table.OptInt("in_usage", func(q *r) *n { return &q.InUsage }),
		table.OptInt("out_asked", func(q *r) *n { return &q.OutAsked }),
		table.OptInt("out_usage", func(q *r) *n { return &q.OutUsage }),
		table.OptInt("out_local", func(q *r) *n { return &q.OutLocal }),
		table.OptInt("cached", func(q *r) *n { return &q.Cached }),
		table.OptInt("out_chars", func(q *r) *n { return &q.OutChars }),
		table.Int("n_events", func(q *r) *int32 { return &q.NEvents }),
		table.Int("n_reads", func(q *r) *int32 { return &q.NReads }),
		table.Enum("finish", trace.FinishNames(), func(q *r) *trace.Finish { return &q.Finish }),
		table.OptString("server_request_id", func(q *r) *string { return &q.ServerRequestID }),
		table.OptInt("server_time_us", func(q *r) *t { return &q.ServerTime }),
		table.Ints("gaps_us", func(q *r) *[]int32 { return &q.Gaps }),
	)
}

// Columns returns the columns of requests.parquet in file order.
func Columns() []string { return requestTable().Columns() }

// Cells returns a result's values in the order of Columns.
func Cells(r *Result) []any { return requestTable().Cells(r) }

// HealthRow is one second of the client's own health (health.parquet).
type HealthRow struct {
	TNS         int64   // run clock, ns
	Sent        int64   // requests sent in the second
	InFlight    int64   // at its end
	LagP50US    int64   // send lag of the second's requests: sched to write_end, µs
	LagP99US    int64   //
	LagMaxUS    int64   //
	KernelP99US int64   // kernel receive to user read, µs; -1 when not measured
	HeartP99US  int64   // lateness of a 1 ms heartbeat, µs
	HeartMaxUS  int64   // the worst of it; -1 in results from before it was kept, like those below
	CPU         float64 // cores used by this process in the second
	GCCycles    int64   // garbage collections that ended in the second
	Throttled   int64   // cgroup periods throttled in the second; -1 when not known
	Steal       float64 // share of the machine's CPU time stolen in the second; -1 when not known
	Files       int64   // file descriptors open in this process at its end; -1 when not known
	FileLimit   int64   // how many it may have; -1 when not known, or no limit
	Ports       int64   // TCP sockets of the machine that hold a port, those in TIME_WAIT included; -1 when not known
	PortLimit   int64   // ports that it gives to connections to one address; -1 when not known
}

func healthTable() *table.Table[HealthRow] {
	type r = HealthRow
	return table.New("health", append(firstHealth(),
		table.Int("heartbeat_max_us", func(q *r) *int64 { return &q.HeartMaxUS }),
		table.Int("files", func(q *r) *int64 { return &q.Files }),
		table.Int("file_limit", func(q *r) *int64 { return &q.FileLimit }),
		table.Int("ports", func(q *r) *int64 { return &q.Ports }),
		table.Int("port_limit", func(q *r) *int64 { return &q.PortLimit }),
	)...)
}

// firstHealth are the columns that every version of health.parquet has.
func firstHealth() []table.Column[HealthRow] {
	type r = HealthRow
	return []table.Column[r]{
		table.Int("t_ns", func(q *r) *int64 { return &q.TNS }),
		table.Int("sent", func(q *r) *int64 { return &q.Sent }),
		table.Int("in_flight", func(q *r) *int64 { return &q.InFlight }),
		table.Int("lag_p50_us", func(q *r) *int64 { return &q.LagP50US }),
		table.Int("lag_p99_us", func(q *r) *int64 { return &q.LagP99US }),
		table.Int("lag_max_us", func(q *r) *int64 { return &q.LagMaxUS }),
		table.Int("kernel_p99_us", func(q *r) *int64 { return &q.KernelP99US }),
		table.Int("heartbeat_p99_us", func(q *r) *int64 { return &q.HeartP99US }),
		table.Float("cpu_cores", func(q *r) *float64 { return &q.CPU }),
		table.Int("gc_cycles", func(q *r) *int64 { return &q.GCCycles }),
		table.Int("throttled", func(q *r) *int64 { return &q.Throttled }),
		table.Float("steal", func(q *r) *float64 { return &q.Steal }),
	}
}

// healthFrom reads the health of results at path, of which the oldest have
// fewer columns.
func healthFrom(path string) iter.Seq2[HealthRow, error] {
	old := table.New("health", firstHealth()...)
	if _, err := numRows(path, healthFile, old); err != nil {
		return rows(path, healthFile, healthTable())
	}
	return func(yield func(HealthRow, error) bool) {
		for h, err := range rows(path, healthFile, old) {
			h.HeartMaxUS, h.Files, h.FileLimit, h.Ports, h.PortLimit = -1, -1, -1, -1, -1
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// checkHealth tells whether health.parquet is whole.
func checkHealth(path string) error {
	if _, err := numRows(path, healthFile, healthTable()); err != nil {
		if _, old := numRows(path, healthFile, table.New("health", firstHealth()...)); old != nil {
			return err
		}
	}
	return nil
}

// HealthColumns names the columns of health.parquet.
func HealthColumns() []string { return healthTable().Columns() }

// HealthCells returns the values of a row in the order of HealthColumns.
func HealthCells(h *HealthRow) []any { return healthTable().Cells(h) }

// ServerColumns names the columns of server.parquet.
func ServerColumns() []string { return serverTable().Columns() }

// ServerCells returns the values of a row in the order of ServerColumns.
func ServerCells(r *ServerRow) []any { return serverTable().Cells(r) }

// ServerRow is one scraped metric of the server (server.parquet).
type ServerRow struct {
	TNS    int64 // run clock, ns
	Name   string
	Labels string // as the exposition format writes them, without braces
	Value  float64
}

func serverTable() *table.Table[ServerRow] {
	type r = ServerRow
	return table.New("server",
		table.Int("t_ns", func(q *r) *int64 { return &q.TNS }),
		table.String("name", func(q *r) *string { return &q.Name }),
		table.OptString("labels", func(q *r) *string { return &q.Labels }),
		table.Float("value", func(q *r) *float64 { return &q.Value }),
	)
}
