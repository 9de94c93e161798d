package bundle

import (
	"cmp"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
)

// other is the alias of all rare ones together.
const other = "other"

func (h *holder) features(w *spec.Workload) error {
	f, key := &w.Features, "workload.features"
	h.share(key+".stream", &f.Stream)
	h.share(key+".tools", &f.Tools)
	h.share(key+".json_schema", &f.Schema)
	h.share(key+".several_completions", &f.Several)
	h.share(key+".chat", &f.Chat)
	f.Models = h.aliases(key+".models", f.Models, func(r *trace.Request) string { return r.Model })
	f.Adapters = h.aliases(key+".adapters", f.Adapters, func(r *trace.Request) string { return r.Adapter })
	h.optional(key+".tool_tokens", &f.ToolTokens)
	h.optional(key+".schema_tokens", &f.SchemaTokens)
	return nil
}

// alias is a name with the requests and clients behind it.
type alias struct {
	share    spec.Share
	requests float64
	clients  int // -1: not known
}

// aliases turns names with too few requests or clients into "other", and the
// rarest of the rest with them until "other" has enough too. A list of which
// only "other" would stay is held back.
func (h *holder) aliases(key string, in []spec.Share, name func(*trace.Request) string) []spec.Share {
	if len(in) == 0 || !counted(in[0].From) {
		return in
	}
	all := h.count(in, name)
	slices.SortStableFunc(all, func(a, b alias) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(a.share.Alias, b.share.Alias))
	})
	var stay, rest []alias
	for _, a := range all {
		if h.enough(a.requests) && (a.clients < 0 || int64(a.clients) >= h.u) && a.share.Alias != other {
			stay = append(stay, a)
		} else {
			rest = append(rest, a)
		}
	}
	for len(rest) > 0 && len(stay) > 0 && !h.enough(sum(rest)) {
		rest = append(rest, stay[len(stay)-1])
		stay = stay[:len(stay)-1]
	}
	if len(stay) == 0 {
		h.back("%s", key)
		return nil
	}
	return h.list(key, stay, rest)
}

func (h *holder) list(key string, stay, rest []alias) []spec.Share {
	var out []spec.Share
	for _, a := range stay {
		out = append(out, a.share)
	}
	if len(rest) > 0 {
		o := rest[0].share
		o.Alias, o.Value, o.N = other, 0, int64(sum(rest))
		for _, a := range rest {
			o.Value += a.share.Value
		}
		o.Value = spec.Round(float64(o.Value))
		out = append(out, o)
		h.back("%s: %d rare names are other", key, len(rest))
	}
	return out
}

func sum(list []alias) float64 {
	n := 0.0
	for _, a := range list {
		n += a.requests
	}
	return n
}

// count finds the requests and clients behind each alias: in the trace where
// it knows the alias, else from the share.
func (h *holder) count(in []spec.Share, name func(*trace.Request) string) []alias {
	requests, users := map[string]int64{}, map[string]map[int32]bool{}
	if h.trace != nil {
		for i := range h.trace.Requests {
			r := &h.trace.Requests[i]
			a := name(r)
			requests[a]++
			if r.Client.OK {
				if users[a] == nil {
					users[a] = map[int32]bool{}
				}
				users[a][r.Client.V] = true
			}
		}
	}
	out := make([]alias, len(in))
	for i, s := range in {
		a := alias{share: s, requests: behind(s.Value, s.N, h.requests), clients: -1}
		if n, ok := requests[s.Alias]; ok {
			a.requests = float64(n)
			if u := len(users[s.Alias]); u > 0 {
				a.clients = u
			}
		}
		out[i] = a
	}
	return out
}
