// Package fitlaw fits an engine's law to a measured run, so that the mock can
// stand for the engine behind the endpoint that was measured.
//
// Steps:
//
//  1. Observe takes from results the answered requests, as a client measured
//     them.
//  2. Fit reconstructs the batch at each gap between two tokens, and regresses
//     the gaps on 1, decodes, tokens of context and tokens of prefill.
//  3. It then searches over the law's figures by simulation of the whole run, and
//     keeps what tells the run better. Predict sets any law beside a run.
//  4. The Report says how well the law tells the run, and what the run does not
//     show of it.
//
// FromMetrics fits to a server's own metrics instead, without a check against
// single requests.
//
// Figures of a law are in microseconds, errors are relative.
//
// Not here: confidence intervals; laws of engines that do not batch in steps.
package fitlaw
