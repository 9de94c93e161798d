package mock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/trace/strictyaml"
)

// Fault is something that goes wrong, and for which requests. A selector that
// is left out holds for all; those given must all hold. In text a fault is its
// kind, then @ and what differs from the default:
//
//	reset@p=0.01,after=5
//	http_429@n=100-120,retry_after=2
//	stall@t=10s-15s,for=3s
//
// Of the faults that take hold of a request, delays and stalls act beside
// others; of those that replace an answer or end it, the first in the list does.
type Fault struct {
	Kind string `yaml:"kind" json:"kind"`

	P     float64 `yaml:"p,omitempty" json:"p,omitempty"`         // share of requests, drawn by seed and number
	N     Numbers `yaml:"n,omitempty" json:"n,omitempty"`         // numbers of requests, from 1
	T     Window  `yaml:"t,omitempty" json:"t,omitzero"`          // arrival since the server's start
	Every Span    `yaml:"every,omitempty" json:"every,omitempty"` // T comes again so often
	Path  string  `yaml:"path,omitempty" json:"path,omitempty"`   // exact, or with * at its end; empty: both generating ones

	After      int     `yaml:"after,omitempty" json:"after,omitempty"`             // content events before it
	For        Span    `yaml:"for,omitempty" json:"for,omitempty"`                 // how long
	RetryAfter float64 `yaml:"retry_after,omitempty" json:"retry_after,omitempty"` // s
	RetryDate  bool    `yaml:"retry_date,omitempty" json:"retry_date,omitempty"`   // Retry-After as a date
	RateLimit  bool    `yaml:"rate_limit,omitempty" json:"rate_limit,omitempty"`   // x-ratelimit headers of an empty bucket
	Body       string  `yaml:"body,omitempty" json:"body,omitempty"`               // json, html, text or empty
	Message    string  `yaml:"message,omitempty" json:"message,omitempty"`         // of the error
	Tokens     int     `yaml:"tokens,omitempty" json:"tokens,omitempty"`           // added to the usage
}

// stage is the point in a request's life that a kind of fault belongs to.
type stage uint8

const (
	onConnect stage = iota
	onWait          // before an answer
	onAnswer        // in place of one
	onBody          // in the middle of one
	onFields        // in what it says
)

// FaultKind describes a kind of fault.
type FaultKind struct {
	Name  string
	Help  string
	Takes []string // fields beside the selectors
	stage stage
}

// FaultKinds returns every kind, in the order of a request's life.
func FaultKinds() []FaultKind {
	of := func(s stage, name, help string, takes ...string) FaultKind {
		return FaultKind{Name: name, Help: help, Takes: takes, stage: s}
	}
	return []FaultKind{
		of(onConnect, "slow_accept", "a connection is not read for a time; n counts connections", "for"),
		of(onConnect, "tls_failure", "the TLS handshake fails by an alert; n counts connections"),
		of(onWait, "delay", "the request is taken up late", "for"),
		of(onAnswer, "hang", "no answer; FIN after for, if given", "for"),
		of(onAnswer, "close", "FIN without an answer"),
		of(onAnswer, "reset_early", "RST without an answer"),
		of(onAnswer, "not_http", "an answer that is not HTTP, then FIN"),
		of(onAnswer, "http_NNN", "an error of that status, 400 to 599", "retry_after", "retry_date", "rate_limit", "body", "message"),
		of(onAnswer, "model_404", "the error of an unknown model"),
		of(onAnswer, "html", "200 with a page of HTML"),
		of(onAnswer, "not_json", "200 with text that is no JSON"),
		of(onAnswer, "empty", "200 with nothing"),
		of(onBody, "stall", "the stream stands still; for ever, if for is not given", "after", "for"),
		of(onBody, "reset", "RST", "after"),
		of(onBody, "fin", "FIN inside an event", "after"),
		of(onBody, "truncate", "FIN inside a chunk that promised more", "after"),
		of(onBody, "cut", "the body ends as it should, but inside an event", "after"),
		of(onBody, "error_event", "an error in the stream, then [DONE]", "after", "message"),
		of(onBody, "bad_event", "an event that is no JSON; the stream goes on", "after"),
		of(onFields, "no_done", "no [DONE]"),
		of(onFields, "wrong_usage", "completion_tokens is wrong by tokens (7)", "tokens"),
		of(onFields, "no_usage", "no usage, though asked for"),
		of(onFields, "gzip", "the body is compressed, though not asked for"),
		of(onFields, "goaway", "the connection ends after the answer: GOAWAY in HTTP/2, Connection: close in HTTP/1.1"),
	}
}

// kind looks up a fault's kind. http_NNN stands for many.
func (f *Fault) kind() (FaultKind, error) {
	name := f.Kind
	if code, ok := strings.CutPrefix(name, "http_"); ok {
		if n, err := strconv.Atoi(code); err != nil || len(code) != 3 || n < 400 || n > 599 {
			return FaultKind{}, fmt.Errorf("fault %q: give http_400 to http_599", name)
		}
		name = "http_NNN"
	}
	kinds := FaultKinds()
	if i := slices.IndexFunc(kinds, func(k FaultKind) bool { return k.Name == name }); i >= 0 {
		return kinds[i], nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	hint := ""
	if near := strictyaml.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return FaultKind{}, fmt.Errorf("unknown fault %q%s", f.Kind, hint)
}

// status is that of an http_NNN fault, 0 of any other.
func (f *Fault) status() int {
	n, err := strconv.Atoi(strings.TrimPrefix(f.Kind, "http_"))
	if err != nil {
		return 0
	}
	return n
}

// Validate says what is wrong with a fault, naming the field.
func (f *Fault) Validate() error {
	k, err := f.kind()
	if err != nil {
		return err
	}
	for name, given := range f.given() {
		if given && !slices.Contains(k.Takes, name) {
			return fmt.Errorf("fault %s: takes no %s", f.Kind, name)
		}
	}
	return f.ranges(k)
}

// given tells which fields beside the selectors are set.
func (f *Fault) given() map[string]bool {
	return map[string]bool{
		"after": f.After != 0, "for": f.For != 0, "retry_after": f.RetryAfter != 0, "retry_date": f.RetryDate,
		"rate_limit": f.RateLimit, "body": f.Body != "", "message": f.Message != "", "tokens": f.Tokens != 0,
	}
}

func (f *Fault) ranges(k FaultKind) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("fault %s: "+format, append([]any{f.Kind}, args...)...)
	}
	switch {
	case !(f.P >= 0 && f.P <= 1):
		return bad("p is %v, give more than 0, up to 1", f.P)
	case f.After < 0 || f.After > 1<<24:
		return bad("after is %d, give 0 to %d events", f.After, 1<<24)
	case !(f.RetryAfter >= 0 && f.RetryAfter <= 86400*365):
		return bad("retry_after is %v, give 0 to a year in seconds", f.RetryAfter)
	case f.RetryDate && f.RetryAfter == 0:
		return bad("retry_date needs retry_after, the seconds until then")
	case !slices.Contains([]string{"", "json", "html", "text", "empty"}, f.Body):
		return bad("body is not one of json, html, text, empty")
	case f.Tokens < -1<<24 || f.Tokens > 1<<24:
		return bad("tokens is %d, give at most %d either way", f.Tokens, 1<<24)
	case f.Every != 0 && (f.T == Window{} || f.T.To == 0 || f.T.To > f.Every):
		return bad("every needs a window t that ends within it, such as t=10s-15s,every=60s")
	case (f.Kind == "delay" || f.Kind == "slow_accept") && f.For == 0:
		return bad("give for, how long")
	case k.stage == onConnect && f.Path != "":
		return bad("is of a connection, which has no path yet")
	case f.Path != "" && f.Path[0] != '/' && f.Path != "*":
		return bad("path is not / or *, then the rest")
	case k.stage >= onBody && f.Kind != "goaway" && !f.onPath(chatPath) && !f.onPath(completionsPath):
		return bad("is of an answer in tokens, which its path has none of")
	}
	return nil
}

const (
	chatPath        = "/v1/chat/completions"
	completionsPath = "/v1/completions"
)

// generates tells the paths whose answers are tokens.
func generates(path string) bool { return path == chatPath || path == completionsPath }

// onPath tells whether the fault is of a path. None is of the mock's own pages.
func (f *Fault) onPath(path string) bool {
	if f.Path == "" {
		return generates(path)
	}
	if front, ok := strings.CutSuffix(f.Path, "*"); ok {
		return strings.HasPrefix(path, front) && !strings.HasPrefix(path, "/mock/")
	}
	return f.Path == path && !strings.HasPrefix(path, "/mock/")
}
