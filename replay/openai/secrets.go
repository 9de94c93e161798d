package openai

import (
	"net/url"
	"slices"
	"strings"
)

// secrets are texts of ours that no message may show, the longest first: some
// servers quote what they were sent.
type secrets []string

// minPart is how long a part of a value must be to be one by itself.
const minPart = 8

// secretsOf are the key, the values of the headers and those of the URL's query.
// Of a value of several words, such as "Bearer KEY", each is one too.
func secretsOf(c Config, to *url.URL) secrets {
	var all secrets
	add := func(v string, least int) {
		if v = strings.TrimSpace(v); len(v) >= least && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	add(c.Key, 1)
	for _, values := range c.Headers {
		for _, v := range values {
			add(v, 4)
			for word := range strings.FieldsSeq(v) {
				add(word, minPart)
			}
		}
	}
	for pair := range strings.SplitSeq(to.RawQuery, "&") {
		_, v, _ := strings.Cut(pair, "=")
		add(v, minPart)
		if plain, err := url.QueryUnescape(v); err == nil {
			add(plain, minPart)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return all
}

// blot takes the secrets out of what a server says. It comes before anything is
// cut short: half of a secret would not be found.
func (s secrets) blot(say string) string {
	for _, v := range s {
		say = strings.ReplaceAll(say, v, "***")
	}
	return say
}
