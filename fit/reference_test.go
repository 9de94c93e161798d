package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// notOurs are parts of reference.json that this package does not compute:
// other families, other dependence measures, type-7 quantiles, the regularised
// clock of Mooncake, and notes.
var notOurs = regexp.MustCompile(`_type7$|^(input|output)_fit/(lnmix\d|gpd_tail_p95|best_by_bic|negbin/aic_disc)(/|$)|_fit/\w+/(aic|k)$|^arrival/iat_fits_global_posIAT/\w+/(aic|k)$` +
	`|^dependence/(kendall|normal|pearson_log)|^arrival/time_rescaling_ks/\w+/(gamma|ks_5pct)|^arrival/weibull` +
	`|^arrival/local/(weibull|gamma_shape_moment_pooled)|_note$|^hurst|^arrival_dequantised|^file_sorted|^(first|last)$` +
	`|^timestamp_quantum|root_first|^blocks/(floor|ceil)|^meta`)

// loose are values that the reference computed from times in floating-point
// seconds, or statistics with a root behind them; the rest hold to 1e-9 and
// what is counted holds exactly.
var (
	modes     = regexp.MustCompile(`^(\w+)/modes/(\d)/0$`)
	rooted    = regexp.MustCompile(`(weibull|gamma)/|logL|/ks|/bic|_mle_`)
	negbin    = regexp.MustCompile(`negbin/`)
	seconds10 = regexp.MustCompile(`^arrival/(smallest_positive_iat_s|iat_p\d+|iat_max)$`)
	counted   = regexp.MustCompile(`/(n|zeros|ones|distinct|min|max|sum|K|argmax|slots|total_blocks|distinct_blocks|hit_blocks|hit_tokens|input_tokens|full_blocks|windows_used|cap_blocks|pairs|max_block_refs|blocks_used_once_count|distinct_first_blocks|counts/\d+|p[\d.]+_type1|modes/\d+/\d+|top_first_blocks/\d+/1)$|^hit_blocks_hist/`)
)

// wrong are reference values that do not hold: where F nears 1 the reference
// takes F(k+½)−F(k−½) as a difference of ones, which leaves 0 for the last few
// outputs, and puts in a floor. The interval likelihood of a density that is
// smooth over a step of one must come near the continuous one, as ours does.
var wrong = regexp.MustCompile(`^azure2023_code/output_fit/(gamma|weibull|exponential)/logL_disc$`)

// got holds what we computed by the reference's path; NaN stands for absent.
type got map[string]float64

func (g got) stat(path string, s Stat) {
	if s.OK() {
		g[path] = s.Value
	} else {
		g[path] = missingValue
	}
}

// tied reports whether x is as frequent as our mode of the rank.
func (g got) tied(key, rank string, x float64) bool {
	return g[fmt.Sprintf("%s/count/%g", key, x)] == g[key+"/modes/"+rank+"/1"]
}

const missingValue = -987654321e9 // no statistic takes this value

// tally counts the checks of one dataset.
type tally struct {
	checked, exact, absent, skipped, wrong int
	worst                                  float64
	where                                  string
}

// TestReference recomputes every value of reference.json that this package has
// a function for, on the four public traces.
func TestReference(t *testing.T) {
	raw, err := os.ReadFile(shared(t, "reference", "statistics", "reference.json"))
	check(t, err)
	var ref struct {
		Datasets map[string]map[string]any
		Extras   map[string]map[string]any
	}
	check(t, json.Unmarshal(raw, &ref))
	var all tally
	for _, name := range []string{"azure2023_code", "azure2023_conv", "mooncake_conversation", "mooncake_synthetic"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			g := compute(t, s)
			c := compare(t, name, g, ref.Datasets[name])
			t.Logf("%s: %d values, %d of them exactly, %d rightly absent, %d not computed here; worst relative error %.2g at %s",
				name, c.checked, c.exact, c.absent, c.skipped, c.worst, c.where)
			all.add(c)
		})
	}
	all.add(extras(t, ref.Extras))
	t.Logf("checked %d values, %d of them exactly, %d rightly absent, %d reference values refuted; worst relative error %.2g at %s (values that the reference has to nine digits or more)",
		all.checked, all.exact, all.absent, all.wrong, all.worst, all.where)
	if all.checked < 1000 {
		t.Errorf("only %d values were checked; the reference has more", all.checked)
	}
}

func (a *tally) add(b tally) {
	a.checked, a.exact, a.absent = a.checked+b.checked, a.exact+b.exact, a.absent+b.absent
	a.skipped, a.wrong = a.skipped+b.skipped, a.wrong+b.wrong
	if b.worst > a.worst {
		a.worst, a.where = b.worst, b.where
	}
}

// compare walks the reference and looks each number up in g.
func compare(t *testing.T, name string, g got, ref any) (c tally) {
	walk(ref, "", func(path string, v any) {
		if notOurs.MatchString(path) {
			c.skipped++
			return
		}
		have, ok := g[path]
		if !ok {
			t.Errorf("%s: nothing computed for %v", path, v)
			return
		}
		if wrong.MatchString(name + "/" + path) {
			c.wrong++
			continuous := g[strings.TrimSuffix(path, "_disc")]
			if e := relative(have, continuous); e > 1e-4 {
				t.Errorf("%s/%s = %g is far from the continuous %g", name, path, have, continuous)
			}
			t.Logf("%s/%s: the reference says %.10g, computed from the upper tail it is %.10g (continuous %.10g)", name, path, v, have, continuous)
			return
		}
		if m := modes.FindStringSubmatch(path); m != nil && g.tied(m[1], m[2], v.(float64)) {
			have = v.(float64) // values of one frequency have no order
		}
		c.check(t, name+"/"+path, path, have, v)
	})
	return c
}

func (c *tally) check(t *testing.T, where, path string, have float64, v any) {
	t.Helper()
	c.checked++
	want, ok := v.(float64)
	if !ok || have == missingValue {
		if v != nil || have != missingValue {
			t.Errorf("%s = %v, the reference says %v", where, have, v)
		}
		c.absent++
		return
	}
	e := relative(have, want)
	if have == want {
		c.exact++
	}
	if e > c.worst && !seconds10.MatchString(path) {
		c.worst, c.where = e, where
	}
	limit := 1e-9
	switch {
	case counted.MatchString(path):
		limit = 0
	case negbin.MatchString(path):
		limit = 1e-4 // as the reference asks: a flat hump
	case rooted.MatchString(path):
		limit = 1e-6
	case seconds10.MatchString(path):
		limit = 1e-7 // a double in seconds, an hour from zero, holds 1e-12 s
	}
	if e > limit {
		t.Errorf("%s = %.11g, the reference says %.10g (relative %.2g, allowed %g)", where, have, want, e, limit)
	}
}

// walk calls f for every leaf below v.
func walk(v any, path string, f func(path string, v any)) {
	at := func(k string) string { return strings.TrimPrefix(path+"/"+k, "/") }
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			walk(v[k], at(k), f)
		}
	case []any:
		for i, e := range v {
			walk(e, at(fmt.Sprint(i)), f)
		}
	default:
		f(path, v)
	}
}

func compute(t *testing.T, s sample) got {
	g := got{}
	g.lengths("input", dist.FromInts(s.input, 1))
	g.lengths("output", dist.FromInts(s.output, 1))
	g.stat("dependence/pearson", Pearson(s.input, s.output))
	rho := Spearman(s.input, s.output)
	g.stat("dependence/spearman", rho)
	g["dependence/gaussian_copula_rho_from_spearman"] = 2 * math.Sin(math.Pi*rho.Value/6)
	g.arrival(t, s.times)
	if s.blocks != nil {
		g.prefix(t, s)
	} else {
		g.minutes(t, s)
	}
	return g
}

func (g got) describe(key string, v dist.Values) {
	d := Describe(v)
	g[key+"/n"], g[key+"/zeros"], g[key+"/ones"], g[key+"/distinct"] = float64(d.N), float64(d.Zeros), float64(d.Ones), float64(d.Distinct)
	g[key+"/min"], g[key+"/max"], g[key+"/sum"], g[key+"/mean"] = d.Min, d.Max, d.Sum, d.Mean
	g.stat(key+"/sd_ddof1", d.SD)
	g.stat(key+"/cv", d.CV)
	for _, p := range []float64{1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9} {
		g[fmt.Sprintf("%s/p%g_type1", key, p)] = v.Quantile(p / 100)
	}
	for i, x := range v.X {
		g[fmt.Sprintf("%s/count/%g", key, x)] = float64(v.N[i])
	}
	for i, x := range d.Modes.X {
		g[fmt.Sprintf("%s/modes/%d/0", key, i)], g[fmt.Sprintf("%s/modes/%d/1", key, i)] = x, float64(d.Modes.N[i])
	}
}

func (g got) lengths(key string, v dist.Values) {
	g.describe(key, v)
	g.families(key+"_fit", v)
}

func (g got) families(key string, v dist.Values) {
	fits, missing := FitFamilies(v)
	for _, f := range fits {
		at := key + "/" + f.Family.Name()
		for _, p := range f.Family.Params() {
			g[at+"/params/"+p.Name] = p.Value
		}
		g[at+"/logL"], g[at+"/bic"], g[at+"/ks"] = f.LogL, f.BIC, f.KS
		g[at+"/logL_disc"], g[at+"/ks_disc"] = f.LogLDiscrete, dist.KSDiscrete(v, f.Family.CDF)
		if f.Family.Name() == "negbin" { // a discrete family: its own likelihood, its own steps
			g[at+"/logL_disc"], g[at+"/ks_disc"] = f.LogL, dist.KSDiscrete(v, f.Family.CDF)
		}
	}
	for name := range missing {
		for _, p := range []string{"params/shape", "params/scale", "logL", "ks"} {
			g[key+"/"+name+"/"+p] = missingValue
		}
	}
}

func (g got) arrival(t *testing.T, times []int64) {
	s, err := Arrivals(times)
	check(t, err)
	gaps := Gaps(times)
	v := dist.FromInts(gaps, second)
	raw := DescribeGaps(gaps) // the reference does not withhold
	g["arrival/n"], g["arrival/span_s"] = float64(s.N), s.SpanS
	g.stat("arrival/mean_rate_n_over_span", s.Rate)
	g["arrival/mean_iat_s"], g["arrival/zero_iat_fraction"] = raw.Mean, raw.ZeroShare
	g["arrival/distinct_timestamps"] = float64(v.Positive().Len() + 1)
	g["arrival/smallest_positive_iat_s"] = v.Positive().X[0]
	g["arrival/iat_p50"], g["arrival/iat_p99"], g["arrival/iat_max"] = v.Quantile(0.5), v.Quantile(0.99), v.Quantile(1)
	g.stat("arrival/cv_iat_global_ddof1", raw.CV)
	g.stat("arrival/gamma_shape_moment_global", raw.Moments)
	g.stat("arrival/gamma_shape_mle_global_posIAT", raw.MLE)
	g.families("arrival/iat_fits_global_posIAT", v.Positive())
	for i, lag := range []int{1, 2, 5, 10} {
		g.stat(fmt.Sprintf("arrival/iat_autocorr/%d", i), Autocorrelation(gaps, lag))
	}
	for _, k := range IDISteps() {
		g.stat(fmt.Sprintf("arrival/idi/%d", k), IDI(gaps, k))
	}
	for name, width := range map[string]int64{"60s": 60 * second, "300s": 300 * second, "constant": 0} {
		r, at := Rescale(times, width), "arrival/time_rescaling_ks/"+name
		g.stat(at+"/exp1", r.KS)
		g.stat(at+"/cv", r.CV)
		g.stat(at+"/lag1_corr", r.Lag1)
	}
	g.bins(times)
	g.local(Local(times, 300*second, 30))
	if s.Slots != nil {
		g.slots(s.Slots)
	}
}

func (g got) bins(times []int64) {
	for _, w := range Widths() {
		b, ok := Bins(times, w)
		if !ok {
			continue
		}
		k := fmt.Sprint(w / second)
		at := "arrival/bins/" + k
		g[at+"/K"], g[at+"/mean"], g[at+"/max"], g[at+"/p99"], g[at+"/argmax"] = float64(b.K), b.Mean, float64(b.Max), b.P99, float64(b.MaxBin)
		g.stat("arrival/peak_to_mean/"+k, b.PeakToMean)
		g.stat("arrival/idc/"+k, b.IDC)
		g.stat("arrival/peak_to_mean_sliding/"+k, b.Sliding)
		g["arrival/empty_bin_fraction/"+k] = float64(b.Empty) / float64(b.K)
	}
	tens, _ := Series(times, times[0], 10*second)
	tens = tens[:(times[len(times)-1]-times[0])/(10*second)]
	for i, lag := range []int{1, 2, 6, 30} {
		g.stat(fmt.Sprintf("arrival/count10s_autocorr/%d", i), Autocorrelation(tens, lag))
	}
}

func (g got) local(l LocalStats) {
	at := "arrival/local/"
	g[at+"win_s"], g[at+"min_arrivals"], g[at+"windows_used"] = l.WindowS, 30, float64(l.Windows)
	g[at+"rate_min"], g[at+"rate_max"] = l.RateMin, l.RateMax
	for k, s := range map[string]Stat{"cv_median": l.CVMedian, "cv_mean": l.CVMean, "cv_p10": l.CVP10, "cv_p90": l.CVP90,
		"rate_cv_across_windows": l.RateCV, "gamma_shape_moment_median": l.MomentsMedian, "gamma_shape_mle_median": l.MLEMedian,
		"gamma_shape_mle_pooled_normalised": l.MLEPooled, "lag1_iat_autocorr_median": l.AutocorrelationLag1} {
		g.stat(at+k, s)
	}
}

func (g got) slots(s *SlotStats) {
	at := "per_slot/"
	g[at+"slot_s"], g[at+"slots"], g[at+"empty_slots"], g[at+"max"] = s.StepS, float64(s.Slots), float64(s.Empty), float64(s.Max)
	g[at+"mean"], g[at+"var_ddof1"], g[at+"p2m"] = s.Mean, s.Var, s.PeakToMean
	g.stat(at+"idc", s.IDC)
	for i, a := range s.Autocorr {
		g.stat(fmt.Sprintf("per_slot/acf/%d", i), a)
	}
}

func (g got) minutes(t *testing.T, s sample) {
	origin := -(s.zero % (60 * second))
	counts, err := Series(s.times, origin, 60*second)
	check(t, err)
	var sum, inner, most, innerMost int64
	for i, c := range counts {
		g[fmt.Sprintf("clock_minutes/counts/%d", i)] = float64(c)
		sum, most = sum+c, max(most, c)
		if i > 0 && i < len(counts)-1 {
			inner, innerMost = inner+c, max(innerMost, c)
		}
	}
	n := float64(len(counts))
	at := "clock_minutes/"
	g[at+"n"], g[at+"max"], g[at+"mean_all"], g[at+"mean_interior"] = n, float64(most), float64(sum)/n, float64(inner)/(n-2)
	g[at+"p2m_all"], g[at+"p2m_interior"] = float64(most)/g[at+"mean_all"], float64(innerMost)/g[at+"mean_interior"]
}

func (g got) prefix(t *testing.T, s sample) {
	p, err := Prefix(s.blocks, s.input, 512)
	check(t, err)
	rates := map[string]Stat{}
	for _, r := range p.Rates() {
		rates[r.Name] = r.Value
	}
	g["blocks/chain_inconsistencies"] = float64(p.Inconsistent)
	g["blocks/total_blocks"], g["blocks/distinct_blocks"] = float64(p.TotalBlocks), float64(p.DistinctBlocks)
	at := "infinite/"
	g[at+"hit_blocks"], g[at+"hit_tokens"], g[at+"input_tokens"] = float64(p.HitBlocks), float64(p.HitTokens), float64(p.InputTokens)
	g[at+"identity_1_minus_distinct_over_total"] = 1 - float64(p.DistinctBlocks)/float64(p.TotalBlocks)
	for k, v := range map[string]Stat{"hit_rate_blocks": rates["blocks"], "hit_rate_tokens": rates["tokens"],
		"mean_per_request_token_hit_ratio": rates["mean_of_requests"], "median_per_request_token_hit_ratio": p.MedianRatio,
		"requests_with_any_hit": p.AnyHit, "requests_with_hit_ge2_blocks": p.TwoBlocks, "requests_full_hit": p.WholeInput} {
		g.stat(at+k, v)
	}
	at = "infinite_full_blocks_only/"
	g[at+"full_blocks"], g[at+"hit_blocks"] = float64(p.FullBlocks), float64(p.FullHitBlocks)
	g.stat(at+"hit_rate_blocks", rates["full_blocks"])
	g.stat(at+"hit_rate_tokens", rates["full_block_tokens"])
	g.perRequest(s, p)
	g.sharing(s)
	g.lru(t, s)
	g.sessions(s)
}

// sessions infers conversations as the reference does. Its hazards are of the
// window as it is, without censoring.
func (g got) sessions(s sample) {
	x := &trace.Trace{Header: trace.Header{BlockTokens: 512}}
	for i := range s.times {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(s.times[i]), Input: trace.Some(s.input[i]), Blocks: s.blocks[i], N: 1})
	}
	l := Link(x)
	c := TurnsOf(x, l)
	at := "sessions_inferred/"
	several, requests, most, hist := 0.0, 0.0, int64(0), map[int64]int{}
	for _, n := range c.Counts {
		hist[n]++
		most = max(most, n)
		if n > 1 {
			several, requests = several+1, requests+float64(n)
		}
	}
	n := float64(l.Count)
	g[at+"sessions"], g[at+"multi_turn_sessions"], g[at+"max_turns"] = n, several, float64(most)
	g[at+"mean_turns"], g[at+"mean_turns_of_multi"] = float64(len(s.times))/n, requests/several
	g[at+"frac_sessions_multi"], g[at+"frac_requests_in_multi"] = several/n, requests/float64(len(s.times))
	for k := range hist {
		g[at+fmt.Sprintf("turns_hist/%d", k)] = float64(hist[k])
	}
	clear(c.Late)
	clear(c.Truncated)
	for k := int64(1); k <= max(most, 10); k++ { // the reference tells ten, reached or not
		var reached, on float64
		for n, sessions := range hist {
			if n >= k {
				reached += float64(sessions)
			}
			if n > k {
				on += float64(sessions)
			}
		}
		g[at+fmt.Sprintf("continuation_hazard/%d", k)] = on / max(reached, 1)
		if h := c.Hazards(); k <= spec.MaxHazard && reached >= minHazard {
			g[at+fmt.Sprintf("continuation_hazard/%d", k)] = h[k-1].Value() // ours, where none is cut
		}
	}
	gaps := dist.FromInts(c.Gaps, second)
	for _, p := range []float64{10, 25, 50, 75, 90, 99} {
		g[at+fmt.Sprintf("inter_turn_s/p%g", p)] = gaps.Quantile(p / 100)
	}
	g[at+"inter_turn_mean"] = gaps.Mean()
}

func (g got) perRequest(s sample, p PrefixStats) {
	hist := make([]int, 12)
	hit, miss := make([]int32, len(p.Hits)), make([]int32, len(p.Hits))
	for i, h := range p.Hits {
		hit[i] = min(512*h, s.input[i])
		miss[i] = s.input[i] - hit[i]
		if int(h) < len(hist) {
			hist[h]++
		}
	}
	for h, n := range hist {
		g[fmt.Sprintf("hit_blocks_hist/%d", h)] = float64(n)
	}
	g.describe("hit_tokens_desc", dist.FromInts(hit, 1))
	g.describe("uncached_tokens_desc", dist.FromInts(miss, 1))
}

func (g got) sharing(s sample) {
	sh := Sharing(s.blocks)
	at := "sharing/"
	g["blocks/roots"] = float64(sh.FirstBlocks)
	g[at+"distinct_first_blocks"], g[at+"max_block_refs"], g[at+"blocks_used_once_count"] = float64(sh.FirstBlocks), float64(sh.MaxRefs), float64(sh.UsedOnce)
	for i, r := range sh.TopFirst {
		g[fmt.Sprintf("sharing/top_first_blocks/%d/0", i)], g[fmt.Sprintf("sharing/top_first_blocks/%d/1", i)] = float64(r.Block), float64(r.N)
	}
	for k, v := range map[string]Stat{"frac_requests_sharing_first_block": sh.ShareFirst, "frac_requests_first_block_is_top1": sh.TopFirstShare,
		"blocks_used_once": sh.UsedOnceShare, "top1pct_blocks_share_of_reuses": sh.Top1PctReuses, "top10pct_blocks_share_of_reuses": sh.Top10PctReuses} {
		g.stat(at+k, v)
	}
	times := ReuseTimes(s.blocks, s.times)
	g["reuse_time_s/n"] = float64(times.Len())
	for _, p := range []float64{10, 50, 80, 90, 99} {
		g[fmt.Sprintf("reuse_time_s/p%g", p)] = times.Quantile(p / 100)
	}
}

func (g got) lru(t *testing.T, s sample) {
	r, err := StackDistances(s.blocks, s.input, 512)
	check(t, err)
	for _, c := range r.LRUCurve([]int64{10_000, 100_000, 300_000, 1e6, 3e6, 10e6, 30e6, 50e6, 100e6}) {
		at := fmt.Sprintf("lru/%d/", c.CapacityTokens)
		g[at+"cap_blocks"] = float64(c.CapacityBlocks)
		g.stat(at+"hit_rate_blocks", c.Blocks)
		g.stat(at+"hit_rate_tokens", c.Tokens)
		g.stat(at+"frac_of_infinite_blocks", c.OfInfinite)
	}
}
