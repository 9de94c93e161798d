package mock

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"reprise/replay/mock/driver"
	"reprise/replay/mock/engine"
)

// apiError is an error of the API in the shape of OpenAI and vLLM.
type apiError struct {
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"`
	Status  int           `json:"code"`
	retry   time.Duration // Retry-After; 0 for none
}

func (e *apiError) Error() string { return e.Message }

// badRequest is a 400 about a field; an empty param is none.
func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: "BadRequestError"}
	if param != "" {
		e.Param = &param
	}
	return e
}

// invalid is the refusal of a body that is not of its schema, as pydantic words
// it; place is dotted. What was sent is not quoted.
func invalid(place, kind, what string) *apiError {
	text := fmt.Sprintf("1 validation error:\n  {'type': '%s', 'loc': '%s', 'msg': '%s'}", kind, place, what)
	return &apiError{Status: http.StatusBadRequest, Message: text, Type: "Bad Request", Param: &place}
}

// refusal turns the engine's refusals into answers.
func refusal(err error) *apiError {
	var rate *engine.RateError
	var queue *engine.QueueError
	var length *engine.LengthError
	switch {
	case errors.As(err, &rate):
		return &apiError{Status: http.StatusTooManyRequests, Message: rate.Error(), Type: "RateLimitError", retry: rate.RetryAfter}
	case errors.As(err, &queue):
		return &apiError{Status: http.StatusServiceUnavailable, Message: queue.Error(), Type: "ServiceUnavailableError", retry: time.Second}
	case errors.As(err, &length):
		if length.Prompt >= length.Limit {
			return badRequest("input_tokens", "This model's maximum context length is %d tokens. However, your prompt contains %d input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=%d)",
				length.Limit, length.Prompt, length.Prompt)
		}
		return badRequest("max_tokens", "%s", length.Error())
	case errors.Is(err, driver.ErrClosed):
		return &apiError{Status: http.StatusServiceUnavailable, Message: err.Error(), Type: "ServiceUnavailableError"}
	}
	return badRequest("", "%s", err.Error())
}

// answer is the error as the whole answer.
func (e *apiError) answer(more ...field) *answer {
	if e.retry > 0 {
		more = append(more, field{"Retry-After", strconv.Itoa(int(math.Ceil(e.retry.Seconds())))})
	}
	return jsonAnswer(e.Status, struct {
		Error *apiError `json:"error"`
	}{e}, more...)
}

// rateFields are OpenAI's rate limit headers.
func rateFields(r engine.Rate) []field {
	if r.Limit == 0 {
		return nil
	}
	return []field{
		{"X-Ratelimit-Limit-Requests", strconv.Itoa(r.Limit)},
		{"X-Ratelimit-Remaining-Requests", strconv.Itoa(r.Remaining)},
		{"X-Ratelimit-Reset-Requests", r.Reset.Round(time.Millisecond).String()},
	}
}
