package report

// Definition says exactly what a name means here, and where other tools mean
// something else by it.
type Definition struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// definitions are printed with every report. The notes on other tools are from
// their sources as read in mid-2026.
func definitions() []Definition {
	return []Definition{
		{"TTFT", "Time to first token: from the planned instant to the first event with content, reasoning or a tool call. An empty role event does not count (vllm bench counts it). Other tools start the clock when they send, which hides a late client or a full queue; that number stands beside ours as “from sending”."},
		{"TPOT", "Time per output token: (last content − first content) / (output tokens − 1), tokens by the server's usage. Not of an answer that came in fewer than four pieces of more than two tokens each. Same as vllm bench up to the tail of the stream; GuideLLM's number of this name includes TTFT."},
		{"ITL", "Inter-token latency: the gap between two content events of one stream. One sample a gap, all streams together. An event may carry several tokens."},
		{"E2E", "From the planned instant to the end of the answer."},
		{"Percentile", "Type 1: the smallest observed value that at least that share of values do not exceed. Only answered requests of the measured phase. Not given when fewer than 10 requests lie beyond it. Means are not given."},
		{"Limit", "Met or missed by its percentile from the planned instant, over answered requests and again with every failed request as infinitely late; both must hold. To be met, 10 requests must lie beyond the percentile; to be missed, 10 must lie over the limit."},
		{"Client error", "What the client itself may have made wrong: beside a percentile on top at that percentile, in the table of latencies of a single value, at p99. Its send lag (without the handshakes of new connections) is in TTFT and E2E from the planned instant and can only lengthen them (−); late stamps of what arrived make gaps wrong either way (±), and a time per token by that over the gaps of a short answer (p10). A limit on TTFT or E2E is missed only if it is missed without the client's lag and late stamps too; one on TPOT or ITL cannot be judged within the error."},
		{"Goodput", "Planned requests per second that were answered within every limit on a request (for each metric, the limit at its highest percentile). Failed requests are in the share's denominator. It is over the time that completed is over."},
		{"Offered", "Planned requests per second: the gaps between n planned instants, n − 1, over the time from the first to the last; in a closed loop (there it is called sent) the instants are those at which a slot was free. Completed: answered requests over the time until the last answer, or until one gap past the last planned instant where that is later, so never more than was offered; in a closed loop over the part in which all its slots went on, without its beginning and the drain, where that holds enough answers."},
		{"Send lag", "From the planned instant to the last byte of the request handed to the kernel."},
		{"Client", "Judged by the p99 of send lag, of the delay from the kernel's receipt of bytes to their read, and, where the kernel stamps nothing or many events come in one read, of a heartbeat of 1 ms. Clean: each at most 1 ms; usable: at most 5 ms; else the client, not the server, limits the result, and no headline is given."},
	}
}
