package sanitize

import (
	"fmt"

	"reprise/ingest"
)

// Confidence says how well a log fills a row of the workload spec.
type Confidence string

// Full: measured on (nearly) every request. Part: on some, or counted where it
// was not logged. Missing: the row must be asked for, or assumed.
const (
	Full    Confidence = "full"
	Part    Confidence = "part"
	Missing Confidence = "missing"
)

// Fill says what a log can tell of one row of the workload spec, and what to ask
// for where that is not all.
type Fill struct {
	Row        string     `json:"row"`
	Confidence Confidence `json:"confidence"`
	Share      float64    `json:"share"` // of requests that tell it
	Why        string     `json:"why"`
	Ask        string     `json:"ask,omitempty"`
}

// nearly all requests, from which a row counts as filled.
const nearly = 0.95

// Evidence is what was seen of a log: the number of requests, in how many of them
// each field had a value, how fine the time stamps are (µs, 0 when there are
// none) and how long they span.
type Evidence struct {
	Requests     int64
	Coverage     []ingest.Coverage
	ResolutionUS int64
	SpanS        float64
	Timed        bool
	// Prompts is how many requests have a whole prompt, or blocks of one.
	Prompts int64
}

// Fills judges each row of the workload spec in a fixed order.
func Fills(e Evidence) []Fill {
	rows := map[ingest.Field]float64{}
	for _, c := range e.Coverage {
		rows[c.Field] = float64(c.Rows) / float64(max(e.Requests, 1))
	}
	prompt := float64(e.Prompts) / float64(max(e.Requests, 1))
	fills := []Fill{
		lengthFill("lengths.input", rows[ingest.FieldInputTokens], prompt,
			"the prompt token count of each request (usage.prompt_tokens), or the prompts themselves, which are counted on your machine"),
		lengthFill("lengths.output", rows[ingest.FieldOutputTokens], rows[ingest.FieldOutput],
			"the output token count of each request (usage.completion_tokens, reasoning included); streams need stream_options.include_usage"),
		e.arrivals(rows),
		e.prefix(rows, prompt),
		sessionFill(rows),
		featureFill("features.stream", rows[ingest.FieldStream], "whether each request streamed"),
		featureFill("features.tools", max(rows[ingest.FieldTools], rows[ingest.FieldMessages]), "whether each request carried tools, and their definitions"),
		featureFill("features.json_schema", max(rows[ingest.FieldJSONSchema], rows[ingest.FieldMessages]), "whether each answer was constrained by a JSON schema (response_format)"),
		featureFill("features.models", rows[ingest.FieldModel], "the model, and the adapter if there are any, of each request"),
		featureFill("lengths.max_tokens", rows[ingest.FieldMaxTokens], "max_tokens of each request, and the finish reason: without them a length that was cut looks like a length that was wanted"),
		featureFill("failures", max(rows[ingest.FieldStatus], rows[ingest.FieldError], rows[ingest.FieldFinish]), "the HTTP status of each request, failed ones included"),
		latencyFill(rows),
	}
	if e.Requests < few {
		for i := range fills[:4] { // lengths, arrivals and prefix are distributions
			if f := &fills[i]; f.Confidence == Full {
				f.Confidence, f.Ask = Part, askMore
				f.Why += fmt.Sprintf("; but %d requests are few", e.Requests)
			}
		}
	}
	return fills
}

// few requests are not enough for the tails of a distribution.
const (
	few     = 1000
	askMore = "more of the same: a log of a whole busy day, at least a thousand requests"
)

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func judge(row string, share float64, why, ask string) Fill {
	f := Fill{Row: row, Share: share, Why: why}
	switch {
	case share >= nearly:
		f.Confidence = Full
	case share > 0:
		f.Confidence, f.Ask = Part, ask
	default:
		f.Confidence, f.Ask = Missing, ask
	}
	return f
}

func lengthFill(row string, logged, text float64, ask string) Fill {
	switch {
	case logged >= nearly:
		return judge(row, logged, percent(logged)+" of requests log the count", ask)
	case logged+text == 0:
		return judge(row, 0, "neither counts nor texts", ask)
	case text >= nearly:
		f := judge(row, text, fmt.Sprintf("%s log the count; the rest is counted from the text and marked estimated", percent(logged)), ask)
		f.Confidence = Part
		return f
	}
	f := judge(row, max(logged, text), fmt.Sprintf("%s log the count, %s have the text", percent(logged), percent(text)), ask)
	f.Confidence = Part
	f.Ask = ask
	return f
}

// Time stamps coarser than coarse hide bursts inside a second; a log shorter than
// day has no peak hour of the day.
const (
	coarse = 10_000 // µs
	dayS   = 86_400 // s
)

func (e Evidence) arrivals(rows map[ingest.Field]float64) Fill {
	const row = "arrivals"
	ask := "the arrival time of each request in milliseconds or finer, stamped when it arrived and not when it was logged, for a whole day that includes the busiest hour"
	switch {
	case !e.Timed:
		return judge(row, 0, "no times: a rate must be stated", ask)
	case e.ResolutionUS >= coarse:
		f := judge(row, 1, fmt.Sprintf("time stamps at %g s: bursts shorter than a few of them cannot be told", float64(e.ResolutionUS)/1e6), ask)
		f.Confidence, f.Ask = Part, ask
		return f
	case e.SpanS < dayS*nearly:
		f := judge(row, 1, fmt.Sprintf("%.3g h of log: the peak hour of a day cannot be told", e.SpanS/3600), ask)
		f.Confidence, f.Ask = Part, ask
		return f
	case rows[ingest.FieldArrival] == 0:
		f := judge(row, 1, "arrivals are worked out from end times and durations", ask)
		f.Confidence, f.Ask = Part, ask
		return f
	}
	return judge(row, 1, fmt.Sprintf("%.3g h of log, time stamps at %g ms", e.SpanS/3600, float64(e.ResolutionUS)/1e3), ask)
}

func (e Evidence) prefix(rows map[ingest.Field]float64, prompt float64) Fill {
	ask := "the whole prompts as they were sent (they are read on your machine and do not leave it), or their prefix block digests; failing that the system prompt and one complete request"
	switch {
	case rows[ingest.FieldBlocks] > 0:
		return judge("prefix", rows[ingest.FieldBlocks], percent(rows[ingest.FieldBlocks])+" of requests carry prefix blocks of the source", ask)
	case prompt == 0 && rows[ingest.FieldCachedTokens] > 0:
		f := judge("prefix", rows[ingest.FieldCachedTokens], "no prompts; cached tokens of the server alone, which tell a hit rate and not what would hit elsewhere", ask)
		f.Confidence, f.Ask = Part, ask
		return f
	}
	return judge("prefix", prompt, percent(prompt)+" of requests have their whole prompt", ask)
}

func sessionFill(rows map[ingest.Field]float64) Fill {
	ask := "a session, conversation or thread id on each request (it is replaced by a number), or the id of the request that it continues"
	s := max(rows[ingest.FieldSession], rows[ingest.FieldParent])
	return judge("sessions", s, percent(s)+" of requests name a session or a parent", ask)
}

func featureFill(row string, share float64, ask string) Fill {
	return judge(row, share, percent(share)+" of requests tell", ask)
}

func latencyFill(rows map[ingest.Field]float64) Fill {
	ttft := max(rows[ingest.FieldTTFT], rows[ingest.FieldFirstToken])
	all := max(rows[ingest.FieldDuration], rows[ingest.FieldEnd])
	f := judge("latency.today", min(1, max(ttft, all)), fmt.Sprintf("%s have a time to first token, %s a duration", percent(ttft), percent(all)),
		"the time to first token and the end time of each request, for a comparison with the endpoint in use")
	if ttft < nearly && f.Confidence == Full {
		f.Confidence = Part
	}
	return f
}
