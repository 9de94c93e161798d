package ingest

import "slices"

// Field is something a Record can hold and a column can be mapped to.
type Field uint8

// The fields. Times and durations take a unit.
const (
	FieldArrival Field = iota
	FieldFirstToken
	FieldEnd
	FieldTTFT
	FieldDuration
	FieldRequestID
	FieldParent
	FieldSession
	FieldClient
	FieldModel
	FieldAdapter
	FieldAPI
	FieldSystem
	FieldMessages
	FieldPrompt
	FieldOutput
	FieldTools
	FieldJSONSchema
	FieldInputTokens
	FieldOutputTokens
	FieldCachedTokens
	FieldReasoningTokens
	FieldMediaTokens
	FieldMaxTokens
	FieldStream
	FieldN
	FieldFinish
	FieldStatus
	FieldError
	FieldProxyCache
	FieldBlocks
	FieldTotalTokens      // what the log gives as the sum; tells what the other counts include
	FieldCacheWriteTokens // input tokens that were written to the provider's cache
	FieldProvider         // who answered; tells what its counts include
	FieldAttempt          // number of the attempt, from 0
	FieldRetryOf          // id that the attempts of one call share
	FieldSpan             // id of a span, and
	FieldParentSpan       // of the span around it: one call may be recorded by both
	numFields
)

func fieldNames() []string {
	return []string{"arrival", "first_token", "end", "ttft", "duration", "request_id", "parent",
		"session", "client", "model", "adapter", "api", "system", "messages", "prompt", "output",
		"tools", "json_schema", "input_tokens", "output_tokens", "cached_tokens",
		"reasoning_tokens", "media_tokens", "max_tokens", "stream", "n", "finish", "status",
		"error", "proxy_cache", "blocks", "total_tokens", "cache_write_tokens", "provider",
		"attempt", "retry_of", "span", "parent_span"}
}

func (f Field) String() string { return fieldNames()[f] }

// FieldNames returns the names that --map takes, in a fixed order.
func FieldNames() []string { return fieldNames() }

// fieldOf returns the field of a name.
func fieldOf(name string) (Field, bool) {
	i := slices.Index(fieldNames(), name)
	return Field(max(i, 0)), i >= 0
}

// isTime says that the field is an instant, isSpan that it is a duration.
func (f Field) isTime() bool { return f <= FieldEnd }
func (f Field) isSpan() bool { return f == FieldTTFT || f == FieldDuration }

// isPart says that the field counts a part of the input or the output tokens.
func (f Field) isPart() bool {
	return f == FieldCachedTokens || f == FieldCacheWriteTokens || f == FieldReasoningTokens
}

// isFeature says that the field tells of something that a request may use.
func (f Field) isFeature() bool {
	return f == FieldTools || f == FieldJSONSchema || f == FieldStream
}

// inEveryRow says that rows of a log have the field, or none of them.
func (f Field) inEveryRow() bool {
	switch f {
	case FieldArrival, FieldEnd, FieldMessages, FieldPrompt, FieldOutput, FieldInputTokens, FieldOutputTokens, FieldTotalTokens,
		FieldModel, FieldBlocks, FieldAPI, FieldRequestID:
		return true
	}
	return false
}

// maxTokens is the largest count that is believed. No model takes a prompt of
// 16 million tokens, and a wild count would ask for memory that nobody has.
const maxTokens = 1 << 24
