// Package page shows a workload spec: small charts for a terminal, and an HTML
// page with drawn ones, for people who will sign it.
//
//	Line, Density   small charts, a line of block characters each
//	Short, Seconds  numbers as people write them
//	HTML            one file, no script, no style sheet from elsewhere
//
// It prints what the spec says and computes nothing new. Units are the spec's.
package page
