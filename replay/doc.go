// Package replay holds the clock: it sends the requests of a trace at their
// instants and keeps what became of each. It knows no HTTP.
//
//	NewPlan, NewArrivalPlan   trace -> jobs at recorded, or at drawn, instants
//	NewClosedPlan, NewSessionPlan   jobs that wait for a slot, or an answer
//	Thinks     think times as a spec has them
//	Plan.Run   jobs -> Results through a Sender
//	Options.Health   the client's own health, once a second
//	Lags.Judge       may the client be believed (p99 lag at most 1 ms, at most 5 ms)
//	Limits.Tell      files and ports that a plan needs, and the system has not
//	CreateDir, OpenDir   the results directory of artifacts.md §4
//	ServerWatch, Merge   the server's own metrics; several client machines
//	Prompter   surrogate prompts of exact length and exact sharing
//
// Open loop: a job is let go at its instant or late, never early; it is never
// dropped, held back by a cap, or re-timed. Lateness is the job's own and shows
// in every latency measured from Sched. Where there is no schedule, Sched is
// the instant at which the slot got free or the think time was over. Every
// planned job gets exactly one Result, so the classes add up to the plan.
//
// Units: nanoseconds from the run's zero for instants, microseconds for spans,
// tokens for lengths.
//
// Not here: what a request looks like on the wire (replay/openai), a server to
// practise on (replay/mock), a client's error by its stamps (replay/selftest),
// statistics and pages (replay/report).
package replay
