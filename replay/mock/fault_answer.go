package mock

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"reprise/replay/mock/engine"
)

// instead is the answer that a fault gives in place of the real one; nil for a
// fault that gives none, but ends the connection.
func (f *Fault) instead(model string, now time.Time) *answer {
	switch f.Kind {
	case "html":
		return textAnswer(http.StatusOK, "text/html; charset=utf-8", page(http.StatusOK))
	case "not_json":
		return textAnswer(http.StatusOK, "text/plain; charset=utf-8", "upstream connect error or disconnect/reset before headers")
	case "empty":
		return textAnswer(http.StatusOK, "application/json", "")
	case "model_404":
		return unknownModel(model).answer()
	}
	if f.status() == 0 {
		return nil
	}
	a := f.errorBody()
	a.header = append(a.header, f.retryFields(now)...)
	return a
}

// unknownModel is vLLM's refusal of a model that it does not serve.
func unknownModel(model string) *apiError {
	param := "model"
	return &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("The model `%s` does not exist.", model), Type: "NotFoundError", Param: &param}
}

func (f *Fault) errorBody() *answer {
	status := f.status()
	switch f.Body {
	case "html":
		return textAnswer(status, "text/html", page(status))
	case "text":
		return textAnswer(status, "text/plain; charset=utf-8", f.message())
	case "empty":
		return &answer{status: status}
	}
	kind := statusName(status)
	return (&apiError{Status: status, Message: f.message(), Type: strings.ReplaceAll(kind, " ", "") + "Error"}).answer()
}

func (f *Fault) message() string {
	switch {
	case f.Message != "":
		return f.Message
	case f.Kind == "error_event":
		return "The engine failed in the middle of this request (a fault of the mock)."
	}
	return statusName(f.status()) + " (a fault of the mock)."
}

// statusName is the standard's name; 529 has none but is in use.
func statusName(status int) string {
	if name := http.StatusText(status); name != "" {
		return name
	}
	if status == 529 {
		return "Overloaded"
	}
	return "Status " + strconv.Itoa(status)
}

// page is what proxies show people.
func page(status int) string {
	t := fmt.Sprintf("%d %s", status, statusName(status))
	return "<html>\r\n<head><title>" + t + "</title></head>\r\n<body>\r\n<center><h1>" + t + "</h1></center>\r\n</body>\r\n</html>\r\n"
}

// retryFields are the headers about when to come again.
func (f *Fault) retryFields(now time.Time) []field {
	var out []field
	wait := time.Duration(f.RetryAfter * float64(time.Second))
	switch {
	case f.RetryDate:
		out = append(out, field{"Retry-After", now.Add(wait + time.Second - 1).UTC().Format(http.TimeFormat)})
	case f.RetryAfter > 0:
		out = append(out, field{"Retry-After", strconv.FormatFloat(f.RetryAfter, 'f', -1, 64)})
	}
	if f.RateLimit {
		if wait == 0 {
			wait = time.Second
		}
		out = append(out, rateFields(engine.Rate{Limit: 60, Remaining: 0, Reset: wait})...)
	}
	return out
}
