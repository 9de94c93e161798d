package mock

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// field is a header line.
type field struct{ name, value string }

// answer is a response that is known as a whole.
type answer struct {
	status int
	header []field // without Content-Length, Date and Connection
	body   []byte
}

// jsonAnswer is a value as the whole answer.
func jsonAnswer(status int, v any, more ...field) *answer {
	body, err := json.Marshal(v)
	if err != nil { // only maps, structs, strings and numbers come here
		return textAnswer(http.StatusInternalServerError, "text/plain; charset=utf-8", err.Error())
	}
	return &answer{status: status, header: append([]field{{"Content-Type", "application/json"}}, more...), body: body}
}

func textAnswer(status int, kind, text string) *answer {
	return &answer{status: status, header: []field{{"Content-Type", kind}}, body: []byte(text)}
}

// write sends an answer through net/http. A client that has gone away is no
// error of ours.
func (a *answer) write(w http.ResponseWriter) {
	h := w.Header()
	for _, f := range a.header {
		h.Set(f.name, f.value)
	}
	if a.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
