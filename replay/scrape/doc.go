// Package scrape reads what an inference server says of itself: Prometheus
// metrics, just before a run, once a second while it runs, and after it.
//
//	Parse     the text format -> samples, without garbage
//	RoleOf    vLLM's, SGLang's, TGI's and llama.cpp's names -> what they mean here
//	Scraper   a replay.ServerWatch: keeps the rows that have a role
//	Summarize rows -> TTFT and queue time of the run's own requests, cache
//	          hits, running, waiting, use of the KV cache
//
// A histogram counts from the server's start, so a run's share of it is the
// difference of two scrapes. Its percentiles are known to a bucket only, and are
// given as the bucket's two bounds. Scraping has a goroutine and a connection of
// its own; a scrape that is slow delays the next scrape and nothing else.
//
// Units: seconds in metrics, as servers give them; ns for instants.
//
// Not here: other formats than text, metrics pushed or behind a query language.
package scrape
