package openai

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// target is where requests go.
type target struct {
	api    string // chat, completions
	post   *url.URL
	models *url.URL
}

// resolve reads an endpoint's URL: the base with or without /v1, or in full up
// to chat/completions or completions; a query is kept. api may be empty: then
// the path says, else chat.
func resolve(raw, api string) (target, error) {
	if !strings.Contains(raw, "://") {
		return target{}, fmt.Errorf("the URL %q has no scheme: write http:// or https:// before it", raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, errors.New("the URL does not parse: write it as http://host:port")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return target{}, fmt.Errorf("the URL's scheme is %q, want http or https", u.Scheme)
	case u.Host == "":
		return target{}, errors.New("the URL has no host: write it as http://host:port")
	case u.User != nil:
		return target{}, errors.New("the URL has a user or password in it: give the key by the environment or a file")
	case strings.Contains(u.RawQuery, " "):
		return target{}, errors.New("the URL's query has a space in it: write %20")
	case api != "" && api != Chat && api != Completions:
		return target{}, fmt.Errorf("the API is %q, want %s or %s", api, Chat, Completions)
	}
	u.Fragment = ""
	base := strings.TrimRight(u.Path, "/")
	said := ""
	if cut, ok := strings.CutSuffix(base, "/chat/completions"); ok {
		base, said = cut, Chat
	} else if cut, ok := strings.CutSuffix(base, "/completions"); ok {
		base, said = cut, Completions
	} else if !versioned(base) {
		base += "/v1"
	}
	if said != "" && api != "" && said != api {
		return target{}, fmt.Errorf("the URL ends in the path of the %s API, but %s was asked for", said, api)
	}
	if said == "" {
		said = api
	}
	if said == "" {
		said = Chat
	}
	path := "/chat/completions"
	if said == Completions {
		path = "/completions"
	}
	return target{api: said, post: at(u, base+path), models: at(u, base+"/models")}, nil
}

// versioned reports whether a path ends in /v1 or the like.
func versioned(path string) bool {
	return regexp.MustCompile(`/v\d+[a-z0-9]*$`).MatchString(path)
}

func at(u *url.URL, path string) *url.URL {
	out := *u
	out.Path, out.RawPath = path, ""
	return &out
}

// public is the URL without query, as results may show it.
func (t target) public() string {
	u := *t.post
	u.RawQuery, u.User = "", nil
	return u.String()
}

// Address is where the requests of an endpoint's URL and API go, as results show
// it; api may be empty. It fails as New does on a URL that is none.
func Address(raw, api string) (string, error) {
	t, err := resolve(raw, api)
	if err != nil {
		return "", err
	}
	return t.public(), nil
}
