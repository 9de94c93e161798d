package ingest

import (
	"reprise/trace"
)

// cover counts the fields that a record has, whatever way they were filled.
func (b *builder) cover(r *Record) {
	n := &b.covered
	for _, c := range [...]struct {
		f  Field
		ok bool
	}{
		{FieldArrival, r.Arrival.OK}, {FieldFirstToken, r.FirstToken.OK}, {FieldEnd, r.End.OK},
		{FieldTTFT, r.TTFT.OK}, {FieldDuration, r.Duration.OK},
		{FieldRequestID, r.RequestID != ""}, {FieldParent, r.Parent != ""}, {FieldSession, r.Session != ""},
		{FieldClient, r.Client != ""}, {FieldModel, r.Model != ""}, {FieldAdapter, r.Adapter != ""},
		{FieldAPI, r.API != trace.APIUnknown}, {FieldMessages, len(r.Messages) > 0},
		{FieldPrompt, r.Prompt != "" || len(r.PromptTokens) > 0}, {FieldOutput, r.HasOutput},
		{FieldTools, r.Tools.OK}, {FieldJSONSchema, r.JSONSchema.OK},
		{FieldInputTokens, r.InputTokens.OK}, {FieldOutputTokens, r.OutputTokens.OK},
		{FieldCachedTokens, r.CachedTokens.OK}, {FieldReasoningTokens, r.ReasoningTokens.OK},
		{FieldMediaTokens, r.MediaTokens.OK}, {FieldMaxTokens, r.MaxTokens.OK},
		{FieldStream, r.Stream.OK}, {FieldN, r.N.OK}, {FieldFinish, r.Finish != trace.FinishUnknown},
		{FieldStatus, r.Status.OK}, {FieldProxyCache, r.ProxyCache.OK}, {FieldBlocks, len(r.Blocks) > 0},
		{FieldAttempt, r.Attempt.OK}, {FieldRetryOf, r.RetryOf != ""},
		{FieldSpan, r.Span != ""}, {FieldParentSpan, r.ParentSpan != ""},
	} {
		if c.ok {
			n[c.f]++
		}
	}
}

// Coverage is in how many requests of the log a field has a value. Requests
// that a rule excludes do not count.
type Coverage struct {
	Field Field
	Rows  int64
}

// Coverage returns the fields that any request had a value for, in order. It is
// complete once the records have been read.
func (l *Log) Coverage() []Coverage {
	var out []Coverage
	for f := range numFields {
		if n := l.covered[f]; n > 0 {
			out = append(out, Coverage{f, n})
		}
	}
	return out
}
