package ingest

// Rule is why a readable row is no part of the workload. Mappings may add names
// of their own; a name is made by the mapping's author, never by a row.
type Rule string

// The rules of this package and of its mappings.
const (
	NotGeneration Rule = "not_generation"  // embeddings, moderation, images, audio
	ProxyCacheHit Rule = "proxy_cache_hit" // answered by a proxy before it reached an engine
	OtherSpan     Rule = "other_span"      // a span of a trace that is no call of a model
	NestedCall    Rule = "nested_call"     // a span around another span of the same call
	HealthProbe   Rule = "health_probe"    // asked by a monitor
	StoredRead    Rule = "stored_read"     // an answer that was stored is fetched, not made
	PartOfRow     Rule = "part_of_row"     // belongs to a request whose main row is another
	NoRequest     Rule = "no_request"      // a row of the file without a request in it
	Pending       Rule = "pending"         // not finished when the log was taken
)

// Rules returns the rules of this package in a fixed order.
func Rules() []Rule {
	return []Rule{NotGeneration, ProxyCacheHit, OtherSpan, NestedCall, HealthProbe, StoredRead,
		PartOfRow, NoRequest, Pending}
}

// validRule says that a name can stand in an account: a short identifier.
func validRule(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 40
}
