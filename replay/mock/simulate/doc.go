// Package simulate runs a load through engines in virtual time, without a
// server, and sums up what became of it: a forecast.
//
// Steps: FromTrace makes a load of a trace, RunFleet (or Run, for one engine)
// gives the Outcome of each request, Sum the Forecast.
//
// Times are time.Durations since the engine's zero; a Forecast has milliseconds
// and seconds, as its keys say. The same arguments give the same outcomes.
//
// Not here: what a server, a network or a client add to an engine's times.
package simulate
