package replay

import (
	"fmt"
	"slices"
	"strings"
)

// The protocols of a request (Result.Protocol). HTTP/2 shares a connection among
// requests: its stamps come 0.2 to 0.3 ms later, and one answer can hold up others
// (measured with net/http on both sides; see docs of the net engine).
const (
	HTTP1 = "HTTP/1.1"
	HTTP2 = "HTTP/2"
)

// Spoken is how many of the planned requests went by a protocol.
type Spoken struct {
	Protocol string `json:"protocol"`
	N        int64  `json:"requests"`
}

// speak adds n requests to the protocols, which are kept in order.
func speak(all []Spoken, protocol string, n int64) []Spoken {
	if protocol == "" || n == 0 {
		return all
	}
	i, found := slices.BinarySearchFunc(all, protocol, func(s Spoken, p string) int { return strings.Compare(s.Protocol, p) })
	if !found {
		all = slices.Insert(all, i, Spoken{Protocol: protocol})
	}
	all[i].N += n
	return all
}

// Protocols says what was spoken, with shares where it was more than one; empty
// where that is not known.
func (e *Endpoint) Protocols() string {
	var n int64
	for _, s := range e.Spoken {
		n += s.N
	}
	if len(e.Spoken) == 1 {
		return fmt.Sprintf("%s (all %d requests that had a connection)", e.Spoken[0].Protocol, n)
	}
	var parts []string
	for _, s := range e.Spoken {
		parts = append(parts, fmt.Sprintf("%s (%d of %d requests, %.1f %%)", s.Protocol, s.N, n, 100*float64(s.N)/float64(n)))
	}
	return strings.Join(parts, ", ")
}
