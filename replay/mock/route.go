package mock

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"time"
)

// query is a request up to its body, as either server has read it.
type query struct {
	method, path string
	auth         string        // the Authorization header
	arrived      time.Duration // since the engine's zero
	gzip         bool          // the client accepts it
	verdict      verdict       // of the faults
	contact      contact       // what the recorder keeps of the connection
}

// endpoint is what a path serves, to one method; GET stands for HEAD too.
type endpoint struct {
	method   string
	whole    func(h *Handler, body []byte) *answer // nil where tokens are generated
	chat     bool                                  // of a generating one: the API
	readBody bool
}

// endpoints are the paths served.
func endpoints() map[string]endpoint {
	get := func(f func(h *Handler) *answer) endpoint {
		return endpoint{method: http.MethodGet, whole: func(h *Handler, _ []byte) *answer { return f(h) }}
	}
	return map[string]endpoint{
		"/v1/chat/completions": {method: http.MethodPost, chat: true, readBody: true},
		"/v1/completions":      {method: http.MethodPost, readBody: true},
		"/v1/models":           get((*Handler).models),
		"/health":              get(func(*Handler) *answer { return &answer{status: http.StatusOK} }),
		"/ping":                get(func(*Handler) *answer { return &answer{status: http.StatusOK} }),
		"/tokenize":            {method: http.MethodPost, readBody: true, whole: (*Handler).tokenize},
		"/version": get(func(h *Handler) *answer {
			return jsonAnswer(http.StatusOK, map[string]string{"version": h.cfg.Version})
		}),
		"/metrics":       get((*Handler).metrics),
		"/mock/lateness": get(func(h *Handler) *answer { return jsonAnswer(http.StatusOK, h.Lateness()) }),
		"/mock/lateness/reset": {method: http.MethodPost, whole: func(h *Handler, _ []byte) *answer {
			h.ResetLateness()
			return &answer{status: http.StatusNoContent}
		}},
		"/mock/scale": {method: http.MethodPost, readBody: true, whole: (*Handler).scale},
		"/mock/law":   get(func(h *Handler) *answer { return jsonAnswer(http.StatusOK, h.cfg) }),
	}
}

// route finds what a query asks for, or the answer that refuses it. Bodies of
// refusals are FastAPI's, as vLLM gives them.
func (h *Handler) route(q *query) (endpoint, *answer) {
	if h.cfg.APIKey != "" && strings.HasPrefix(q.path, "/v1/") && !h.authorized(q.auth) {
		e := &apiError{Status: http.StatusUnauthorized, Message: "Incorrect API key provided.", Type: "AuthenticationError"}
		return endpoint{}, e.answer(field{"Www-Authenticate", "Bearer"})
	}
	e, ok := h.endpoints[q.path]
	if !ok {
		return e, jsonAnswer(http.StatusNotFound, map[string]string{"detail": "Not Found"})
	}
	if q.method != e.method && (q.method != http.MethodHead || e.method != http.MethodGet) {
		allow := e.method
		if allow == http.MethodGet {
			allow = "GET, HEAD"
		}
		return e, jsonAnswer(http.StatusMethodNotAllowed, map[string]string{"detail": "Method Not Allowed"}, field{"Allow", allow})
	}
	return e, nil
}

func (h *Handler) authorized(header string) bool {
	key, ok := strings.CutPrefix(header, "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(h.cfg.APIKey)) == 1
}

// modelCard is an entry of /v1/models, with the fields of vLLM 0.32.
type modelCard struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	OwnedBy     string       `json:"owned_by"`
	Root        string       `json:"root"`
	Parent      *string      `json:"parent"`
	MaxModelLen int          `json:"max_model_len"`
	Permission  []permission `json:"permission"`
}

type permission struct {
	ID            string  `json:"id"`
	Object        string  `json:"object"`
	Created       int64   `json:"created"`
	CreateEngine  bool    `json:"allow_create_engine"`
	Sampling      bool    `json:"allow_sampling"`
	Logprobs      bool    `json:"allow_logprobs"`
	SearchIndices bool    `json:"allow_search_indices"`
	View          bool    `json:"allow_view"`
	FineTuning    bool    `json:"allow_fine_tuning"`
	Organization  string  `json:"organization"`
	Group         *string `json:"group"`
	Blocking      bool    `json:"is_blocking"`
}

func (h *Handler) models() *answer {
	since := h.driver.Zero().Unix()
	p := permission{ID: "modelperm-0", Object: "model_permission", Created: since, Sampling: true, Logprobs: true, View: true, Organization: "*"}
	m := modelCard{ID: h.cfg.Model, Object: "model", Created: since, OwnedBy: "reprise", Root: h.cfg.Model,
		MaxModelLen: h.cfg.Law.MaxModelLen, Permission: []permission{p}}
	return jsonAnswer(http.StatusOK, struct {
		Object string      `json:"object"`
		Data   []modelCard `json:"data"`
	}{"list", []modelCard{m}})
}
