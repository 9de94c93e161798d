// Package compare tells how far two workloads lie apart, and whether that is
// within what is allowed.
//
//	side       what is compared of a trace or of a spec: samples and named values
//	measure    lengths, dependence, arrivals, prefix sharing, sessions, features
//	noise      the same distances between the reference and itself resampled
//	baseline   and between it and a Poisson process of independent lengths
//	queue      waits of both arrivals in one queue, the same service times
//	judge      thresholds and a verdict for each metric
//
// The first workload is the reference. The noise floor stands beside every
// metric that can be resampled: a difference below it is none. The baseline
// shows that a metric has power: one that the baseline passes tells nothing.
//
// Two sets of limits: Fidelity, for a synthetic trace against its source, and
// Drift, for a later log against what was agreed. There are no p-values: with
// ten thousand requests any two logs differ significantly.
//
// Units: tokens, seconds, 1/s, shares. Non-goals: comparing runs of an engine,
// which is replay/report's.
package compare
