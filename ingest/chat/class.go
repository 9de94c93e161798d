package chat

import (
	"strings"

	"reprise/trace"
)

// FinishOf maps the vendors' finish reasons to our classes.
func FinishOf(s string) trace.Finish {
	switch strings.ReplaceAll(strings.ToLower(s), "-", "_") {
	case "stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed", "complete", "finish", "stop_criteria_met":
		return trace.FinishStop
	case "length", "max_tokens", "max_output_tokens", "max_length", "incomplete", "model_length", "model_context_window_exceeded":
		return trace.FinishLength
	case "tool_calls", "tool_use", "function_call", "tool_call", "malformed_function_call":
		return trace.FinishToolCalls
	case "content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii",
		"guardrail_intervened", "error_toxic":
		return trace.FinishContentFilter
	case "error", "failed", "error_limit":
		return trace.FinishError
	case "abort", "aborted", "cancelled", "canceled":
		return trace.FinishCancelled
	}
	return trace.FinishUnknown
}

// Endpoint tells the interface from a URL or an operation's name; other is a
// call that generates no text.
func Endpoint(s string) (api trace.API, other bool) {
	s = strings.ToLower(s)
	for _, word := range []string{"embed", "moderation", "rerank", "images", "image_generation", "audio", "transcri",
		"speech", "/models", "tokenize", "/score", "/files", "/health", "/metrics"} {
		if strings.Contains(s, word) {
			return trace.APIUnknown, true
		}
	}
	switch {
	case strings.Contains(s, "chat"), s == "completion", s == "acompletion", strings.HasPrefix(s, "converse"),
		strings.Contains(s, "generatecontent"), strings.Contains(s, "generate_content"):
		return trace.Chat, false
	case strings.Contains(s, "completion"):
		return trace.Completions, false
	case strings.Contains(s, "responses"):
		return trace.Responses, false
	case strings.Contains(s, "messages"):
		return trace.Messages, false
	}
	return trace.APIUnknown, false
}
