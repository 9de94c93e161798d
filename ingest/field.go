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
	numFields
)

func fieldNames() []string {
	return []string{"arrival", "first_token", "end", "ttft", "duration", "request_id", "parent",
		"session", "client", "model", "adapter", "api", "system", "messages", "prompt", "output",
		"tools", "json_schema", "input_tokens", "output_tokens", "cached_tokens",
		"reasoning_tokens", "media_tokens", "max_tokens", "stream", "n", "finish", "status",
		"error", "proxy_cache", "blocks"}
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
