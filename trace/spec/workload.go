package spec

// Workload is what the load is. A section that the log could not fill, or that
// the leakage profile holds back, is absent.
type Workload struct {
	Lengths  Lengths   `json:"lengths"`
	Arrivals Arrivals  `json:"arrivals"`
	Prefix   Prefix    `json:"prefix"`
	Sessions *Sessions `json:"sessions,omitempty"`
	Features Features  `json:"features"`
	Jobs     []Job     `json:"jobs,omitempty"`
}

// Lengths describes prompts and answers in tokens of Synth.Tokenizer.
type Lengths struct {
	Input  Length `json:"input"`
	Output Length `json:"output"`
	// Spearman is the rank correlation of input and output; near zero does not
	// mean independent, which is why Joint is kept.
	Spearman *Number `json:"spearman,omitempty"`
	Joint    *Joint  `json:"joint,omitempty"`

	Dependence *Dependence     `json:"dependence,omitempty"`
	Drift      *LengthDrift    `json:"drift,omitempty"`
	Classes    []ClassLengths  `json:"classes,omitempty"`
	Between    *BetweenClients `json:"between_clients,omitempty"`
}

// Length describes one length variable.
type Length struct {
	Mean      Number   `json:"mean"`
	SD        *Number  `json:"sd,omitempty"` // n-1
	Quantiles Table    `json:"quantiles"`
	Families  []Family `json:"families"`
	Atoms     []Atom   `json:"atoms,omitempty"` // values of 0.3 % of the mass or more
	Cap       *Cap     `json:"cap,omitempty"`
	Tail      *Family  `json:"tail,omitempty"` // beyond the 95th percentile, where there is no cap
	// Censored is the share of lengths that max_tokens cut. Families are fitted
	// with them censored; tables hold what was written, since a server stops there.
	Censored *Number `json:"censored,omitempty"`
}

// Atom is a length that many requests have.
type Atom struct {
	Provenance
	Value Num `json:"value"`
	Share Num `json:"share"`
}

// Cap is a limit that lengths run into: Share of them lie in the top 0.2 % of
// the range, which ends at Value.
type Cap struct {
	Provenance
	Value Num `json:"value"`
	Share Num `json:"share"`
}

// Dependence is the total variation, on the 10 by 10 grid of ranks, between
// input and output as they are and independent ones; Noise is what independent
// ones show by chance.
type Dependence struct {
	Provenance
	TV    Num `json:"tv_10x10"`
	Noise Num `json:"noise"`
}

// LengthDrift sets the first half of the log against the second: KS distances,
// with the 95th percentile between random halves, and ratios of means, second
// over first.
type LengthDrift struct {
	Provenance
	InputKS     Num `json:"input_ks"`
	OutputKS    Num `json:"output_ks"`
	InputNoise  Num `json:"input_noise"`
	OutputNoise Num `json:"output_noise"`
	InputRatio  Num `json:"input_mean_ratio"`
	OutputRatio Num `json:"output_mean_ratio"`
}

// ClassLengths are the lengths of the requests of one model or adapter alias.
type ClassLengths struct {
	Provenance
	Kind   string `json:"kind"` // model, adapter
	Alias  string `json:"alias"`
	Input  Table  `json:"input"`
	Output Table  `json:"output"`
}

// BetweenClients is the share of the variance of lengths that lies between
// clients and not within them, less what chance gives (epsilon squared), of a log
// that names clients.
type BetweenClients struct {
	Provenance
	Input  Num `json:"input"`
	Output Num `json:"output"`
}

// Table is a quantile table: Values[i] is the type-1 quantile (inverse
// empirical distribution) at probability P[i]; P ascends within [0,1].
type Table struct {
	Provenance
	P      []Num `json:"p"`
	Values []Num `json:"values"`
}

// Family is a fitted distribution. KS is sup|Fn-F|, an effect size and not a
// test; Label is good (KS <= 0.02), usable (<= 0.05) or descriptive.
type Family struct {
	Provenance
	Name   string  `json:"name"`
	Params []Param `json:"params"`
	LogL   Num     `json:"log_likelihood"`
	BIC    Num     `json:"bic"`
	KS     Num     `json:"ks"`
	Label  string  `json:"label"`
}

// Param is one parameter of a family.
type Param struct {
	Name  string `json:"name"`
	Value Num    `json:"value"`
}

// Joint keeps the dependence of output on input: one output table for each
// stratum of inputs.
type Joint struct {
	Provenance
	Strata []Stratum `json:"strata"`
}

// Stratum holds the outputs of requests whose input is at most Upto and above
// the stratum before.
type Stratum struct {
	Upto   Num   `json:"input_upto"`
	N      int64 `json:"n"`
	P      []Num `json:"p"`
	Output []Num `json:"output"`
}

// Arrivals describes when requests come.
type Arrivals struct {
	// Process is "counts" (Rates and Split hold), or "poisson" at Rate.
	Process    string       `json:"process"`
	Rate       Number       `json:"rate"` // 1/s over Span
	Span       *Number      `json:"span,omitempty"`
	Resolution *Number      `json:"resolution,omitempty"` // of the time stamps
	Rates      *RateSeries  `json:"rate_series,omitempty"`
	PeakToMean []Peak       `json:"peak_to_mean,omitempty"`
	IDC        []ScaleValue `json:"idc,omitempty"`
	CV         *Number      `json:"cv,omitempty"`       // of all gaps
	LocalCV    *Number      `json:"local_cv,omitempty"` // median over 300 s windows
	Gamma      *GammaShape  `json:"gamma_shape,omitempty"`
	Split      *Split       `json:"split,omitempty"`
	PeakHour   *PeakWindow  `json:"peak_hour,omitempty"`
	ClockHour  *PeakWindow  `json:"peak_clock_hour,omitempty"`
	Week       *WeekProfile `json:"week_profile,omitempty"`
	IDI        []GapsValue  `json:"idi,omitempty"`
	Rescaling  *Rescaling   `json:"time_rescaling,omitempty"`
	Variants   []Variant    `json:"variants,omitempty"`
	Notes      []string     `json:"notes,omitempty"` // what the time stamps cannot carry, and why
}

// GapsValue is the index of dispersion of the sum of Gaps consecutive gaps.
type GapsValue struct {
	Provenance
	Gaps  int `json:"gaps"`
	Value Num `json:"value"`
}

// Rescaling is the KS distance of gaps, measured in expected arrivals by the
// rate of each bin of WidthS, from the exponential; Null95 is what Poisson
// arrivals at those rates show.
type Rescaling struct {
	Provenance
	WidthS Num  `json:"width_s"`
	KS     Num  `json:"ks"`
	Null95 *Num `json:"null_p95,omitempty"`
}

// RateSeries counts arrivals in bins of WidthS seconds from the trace's zero,
// empty bins included; Zero labels the first bin by the calendar. The last bin
// covers LastS seconds, which may be less than WidthS.
type RateSeries struct {
	Provenance
	WidthS Num     `json:"width_s"`
	LastS  Num     `json:"last_s"`
	Zero   string  `json:"zero,omitempty"`
	Counts []int64 `json:"counts"`
}

// Peak is the largest bin over the mean bin at a width, with what a Poisson
// process of the same mean would show (5 %, 50 % and 95 % of the largest bin).
type Peak struct {
	Provenance
	WidthS     Num `json:"width_s"`
	Value      Num `json:"value"`
	PoissonP5  Num `json:"poisson_p5"`
	PoissonP50 Num `json:"poisson_p50"`
	PoissonP95 Num `json:"poisson_p95"`
}

// ScaleValue is a statistic at one time scale.
type ScaleValue struct {
	Provenance
	WidthS Num `json:"width_s"`
	Value  Num `json:"value"`
}

// GammaShape holds both estimates of the gamma shape of gaps. Where they
// differ by more than a factor of 2 the family is wrong, and Warning says so.
type GammaShape struct {
	Moments *Number `json:"moments,omitempty"` // 1/CV²
	MLE     *Number `json:"mle,omitempty"`
	Warning string  `json:"warning,omitempty"`
}

// Split is the dispersion of counts inside each coarser bin: 0 is Poisson, 1
// puts all arrivals of a parent into one child. It starts at the width of the
// rate series.
type Split struct {
	Provenance
	Steps []SplitStep `json:"steps"`
}

// SplitStep goes from bins of ParentS seconds to bins of ChildS seconds.
type SplitStep struct {
	ParentS Num `json:"parent_s"`
	ChildS  Num `json:"child_s"`
	Rho     Num `json:"rho"`
	NullSD  Num `json:"null_sd"`
}

// PeakWindow is the busiest window of WidthS seconds.
type PeakWindow struct {
	Provenance
	StartS Num    `json:"start_s"`
	WidthS Num    `json:"width_s"`
	Rate   Num    `json:"rate"` // 1/s inside the window
	Label  string `json:"label,omitempty"`
}

// Prefix describes what prompts share.
type Prefix struct {
	BlockTokens int `json:"block_tokens"`
	// ShareRequests is the share of requests whose prompt begins with at least
	// one block of an earlier request.
	ShareRequests *Number `json:"share_requests,omitempty"`
	// HitRates are infinite-cache hit rates; each names its denominator.
	HitRates []HitRate `json:"hit_rates,omitempty"`
	Roots    []Root    `json:"roots,omitempty"`
	Model    *Reuse    `json:"reuse,omitempty"`

	Identical   []CommonPrefix `json:"common_prefix,omitempty"`
	ShareBeyond *Number        `json:"share_beyond_common,omitempty"` // of requests: hits deeper than the common prefix
	Curve       []CachePoint   `json:"cache_curve,omitempty"`
	ReuseTimes  *Table         `json:"reuse_times_s,omitempty"` // since a block's last use
	Generated   *Generated     `json:"generated,omitempty"`
	Broken      *Broken        `json:"broken,omitempty"`
	Further     []Broken       `json:"broken_further,omitempty"` // of other requests
	Notes       []string       `json:"notes,omitempty"`
}

// HitRate is a hit rate with what it divides by.
type HitRate struct {
	Name        string `json:"name"` // tokens, blocks, full_blocks, mean_of_requests
	Denominator string `json:"denominator"`
	Number
}

// Root is a shared beginning, most shared first: its length and the share of
// requests that begin with it.
type Root struct {
	Provenance
	Tokens Num `json:"tokens"`
	Share  Num `json:"share"`
}

// Reuse is what synth needs to make sharing: for each stratum of inputs, how
// deep prompts hit and how far back what they hit was last used. Continued is
// the share of hits beyond the common beginning that take up an earlier prompt
// whole, as a further turn does.
type Reuse struct {
	Provenance
	Continued *Number        `json:"continued,omitempty"`
	P         []Num          `json:"p"` // probabilities of the tables below
	Strata    []ReuseStratum `json:"strata"`
}

// CommonShare is the share of requests from which a beginning counts as common:
// it is never long out of use, so that how far back a hit on it lies tells
// nothing.
const CommonShare = 0.5

// Common is the depth in whole blocks of the longest common beginning, 0
// without one.
func (p *Prefix) Common() int64 {
	var depth int64
	for _, r := range p.Roots {
		if r.Share >= CommonShare && p.BlockTokens > 0 {
			depth = max(depth, int64(min(float64(r.Tokens)/float64(p.BlockTokens), maxTokens)))
		}
	}
	return depth
}

// Parts says that hits beyond the common beginning are other than all hits: there
// is one.
func (p *Prefix) Parts() bool {
	return p.Common() > 0 || p.ShareBeyond != nil && p.ShareRequests != nil && p.ShareBeyond.Value != p.ShareRequests.Value
}

// ReuseStratum holds quantiles at Reuse.P: HitBlocks of the hit depth in
// blocks; Distance of the distinct blocks touched since, among hits deeper than
// Prefix.Common (empty when there are none).
type ReuseStratum struct {
	Upto      Num   `json:"input_upto"`
	N         int64 `json:"n"`
	HitBlocks []Num `json:"hit_blocks"`
	Distance  []Num `json:"distance"`
}

// Features are the shares of requests that use each feature, among those whose
// log says, and how many requests each model and adapter alias gets.
type Features struct {
	Stream   *Number `json:"stream,omitempty"`
	Tools    *Number `json:"tools,omitempty"`
	Schema   *Number `json:"json_schema,omitempty"`
	Several  *Number `json:"several_completions,omitempty"` // n > 1
	Chat     *Number `json:"chat,omitempty"`                // chat endpoint among those known
	Models   []Share `json:"models,omitempty"`
	Adapters []Share `json:"adapters,omitempty"`

	ToolTokens   *Table `json:"tool_tokens,omitempty"`   // of the prompts with tools
	SchemaTokens *Table `json:"schema_tokens,omitempty"` // of those with a JSON schema
}

// Share is one alias and its share of requests.
type Share struct {
	Alias string `json:"alias"`
	Number
}
