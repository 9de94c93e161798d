package engine

// Routing is the rule by which a fleet shares requests out.
type Routing string

// The routing rules. PrefixAffinity sees every cache exactly, which real
// routers only estimate: among the replicas that have at most half a batch more
// requests than the least loaded one, it takes the one that has cached most of
// the prompt.
const (
	RoundRobin     Routing = "round_robin"
	LeastRequests  Routing = "least_requests"
	PrefixAffinity Routing = "prefix_affinity"
)

// router picks one of the replicas, of which there is at least one. Ties go to
// the one that joined first.
type router interface {
	pick(among []*Replica, r *Request) *Replica
}

// newRouter returns the router of a rule, or false for an unknown rule.
func newRouter(rule Routing) (router, bool) {
	switch rule {
	case "", RoundRobin:
		return &roundRobin{}, true
	case LeastRequests:
		return leastRequests{}, true
	case PrefixAffinity:
		return prefixAffinity{}, true
	}
	return nil, false
}

// roundRobin goes from one replica to the next in order of joining.
type roundRobin struct{ last int } // number of the replica before, plus one

func (p *roundRobin) pick(among []*Replica, _ *Request) *Replica {
	to := among[0]
	for _, r := range among {
		if r.Number >= p.last {
			to = r
			break
		}
	}
	p.last = to.Number + 1
	return to
}

type leastRequests struct{}

func (leastRequests) pick(among []*Replica, _ *Request) *Replica {
	to := among[0]
	for _, r := range among[1:] {
		if r.load() < to.load() {
			to = r
		}
	}
	return to
}

type prefixAffinity struct{}

func (prefixAffinity) pick(among []*Replica, q *Request) *Replica {
	least := leastRequests{}.pick(among, q)
	limit := least.load() + max(1, least.engine.law.MaxSeqs/2)
	to, most := least, -1
	for _, r := range among {
		if r.load() > limit {
			continue
		}
		hits := r.engine.model.holds(q.Blocks)
		if hits > most || hits == most && r.load() < to.load() {
			to, most = r, hits
		}
	}
	return to
}
