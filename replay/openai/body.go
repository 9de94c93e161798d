package openai

import (
	"encoding/json"
	"strconv"
)

// ask is what a request asks for.
type ask struct {
	model     string
	out       int32 // 0: no cap
	n         int16
	ignoreEOS bool
	usage     bool   // stream_options.include_usage
	byNewName bool   // max_completion_tokens
	ids       bool   // the prompt is token ids; completions only
	tools     []byte // a JSON list; nil: none
	schema    []byte // a JSON response format; nil: none
	extra     Extra  // the user's own fields
}

// appendBody renders the request around a prompt that prompt appends.
func appendBody(dst []byte, api string, a ask, prompt func([]byte) []byte) []byte {
	dst = append(dst, `{"model":`...)
	dst = append(dst, quoted(a.model)...)
	switch {
	case a.ids:
		dst = append(prompt(append(dst, `,"prompt":[`...)), ']')
	case api == Chat:
		dst = append(appendText(append(dst, `,"messages":[{"role":"user","content":`...), prompt), "}]"...)
	default:
		dst = appendText(append(dst, `,"prompt":`...), prompt)
	}
	if a.out > 0 {
		name := `,"max_tokens":`
		if a.byNewName {
			name = `,"max_completion_tokens":`
		}
		dst = strconv.AppendInt(append(dst, name...), int64(a.out), 10)
	}
	if a.n > 1 {
		dst = strconv.AppendInt(append(dst, `,"n":`...), int64(a.n), 10)
	}
	if !a.extra.Has("temperature") {
		dst = append(append(dst, `,"temperature":`...), temperature(a.n)...)
	}
	dst = append(dst, `,"stream":true`...)
	if a.usage {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	if a.ignoreEOS && a.out > 0 {
		dst = strconv.AppendInt(append(dst, `,"ignore_eos":true,"min_tokens":`...), int64(a.out), 10)
	}
	if a.tools != nil {
		dst = append(append(dst, `,"tools":`...), a.tools...)
		if !a.extra.Has("tool_choice") {
			// Offered and not to be called: a call would end the answer early.
			dst = append(dst, `,"tool_choice":"none"`...)
		}
	}
	if a.schema != nil {
		dst = append(append(dst, `,"response_format":`...), a.schema...)
	}
	return append(a.extra.append(dst), '}')
}

// temperature is 0, so that answers are the same again, but for several choices of
// one request: vLLM 0.32 refuses those of greedy sampling (HTTP 400).
func temperature(n int16) string {
	if n > 1 {
		return "1"
	}
	return "0"
}

// appendText appends a JSON string of the text that prompt appends.
func appendText(dst []byte, prompt func([]byte) []byte) []byte {
	dst = append(dst, '"')
	from := len(dst)
	dst = prompt(dst)
	if text := dst[from:]; !plain(text) {
		q := quoted(string(text))
		dst = append(dst[:from], q[1:len(q)-1]...)
	}
	return append(dst, '"')
}

// plain reports whether text needs no escape in JSON.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}
