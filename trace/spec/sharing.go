package spec

import (
	"errors"
	"fmt"
)

// CommonPrefix is the longest beginning that CommonShare or more of a group of
// prompts have byte for byte (the same chained digests say so): its length, and
// the share of the group that has it. Kind is all, model or adapter.
type CommonPrefix struct {
	Provenance
	Kind   string `json:"kind"`
	Alias  string `json:"alias,omitempty"`
	Tokens Num    `json:"tokens"`
	Share  Num    `json:"share"`
	// Exact says that Tokens is exact to the token; otherwise whole blocks are
	// counted, and up to a block less one more is shared.
	Exact bool `json:"token_exact,omitempty"`
}

// CachePoint is the hit rate of an LRU cache of so many tokens: whole prompts
// stored at arrival, looked up then, touched from the last block to the first.
// It is an upper bound for requests that run at the same time.
type CachePoint struct {
	Provenance
	CapacityTokens Num `json:"capacity_tokens"`
	Tokens         Num `json:"hit_rate_tokens"`
	Blocks         Num `json:"hit_rate_blocks"`
}

// Generated is the part of hits that a replay with other answers cannot
// reproduce: blocks of a further turn that the engine generated as the answer
// before and that are sent for the first time. It is estimated from lengths, and
// an upper bound: an answer that is sent back changed does not hit.
type Generated struct {
	Provenance
	By      string `json:"by"` // the identity of turns, as of Sessions
	Share   Num    `json:"share_of_hit_tokens"`
	HitRate Num    `json:"hit_rate_tokens"` // of prompt and generated tokens together
}

// Broken is a prefix that does not hit because something that changes stands
// before it: Share of the requests have a long stretch in common, and share Now
// tokens (mean), since a field that changes begins at token At. Were that field
// moved behind the stretch, Would tokens would be shared. Behind marks a further
// field of the same requests, or some of them: Now is what is shared once the
// field of the row before has moved, Would once both have.
type Broken struct {
	Provenance
	Share Num `json:"share"`
	Now   Num `json:"tokens_shared_now"`
	Would Num `json:"tokens_if_moved"`
	At    Num `json:"at_token"`

	Behind bool `json:"behind_the_field_before,omitempty"`
}

// Gain is how many tokens more of a prompt would be shared.
func (b *Broken) Gain() float64 { return max(float64(b.Would)-float64(b.Now), 0) }

// Sentence says it to a person.
func (b *Broken) Sentence() string {
	if b.Behind {
		return fmt.Sprintf("behind that field, in %.0f %% of the prompts, another one that changes begins at token %.0f or so: with the former moved %.0f tokens would be shared, about %.0f with both moved (%.0f more of each such prompt)",
			100*float64(b.Share), float64(b.At), float64(b.Now), float64(b.Would), b.Gain())
	}
	return fmt.Sprintf("%.0f %% of the prompts have a stretch of about %.0f tokens in common with others, but part from most of them before it, where a field that changes begins at token %.0f or so: %.0f tokens are shared now on average, about %.0f would be if the field moved behind the stretch (%.0f more of each such prompt)",
		100*float64(b.Share), max(float64(b.Would)-float64(b.At), 0), float64(b.At), float64(b.Now), float64(b.Would), b.Gain())
}

// AllBroken are the broken prefixes, the one that would save most first. But for
// further fields, which stand behind that of the row before, they are of
// different requests.
func (p *Prefix) AllBroken() []Broken {
	if p.Broken == nil {
		return nil
	}
	return append([]Broken{*p.Broken}, p.Further...)
}

// SetBroken takes over broken prefixes in that order.
func (p *Prefix) SetBroken(all []Broken) {
	p.Broken, p.Further = nil, nil
	if len(all) > 0 {
		p.Broken = &all[0]
	}
	if len(all) > 1 {
		p.Further = all[1:]
	}
}

// Exactly is the sentence on the common prefix of all prompts, empty without
// one.
func (p *Prefix) Exactly() string {
	for _, c := range p.Identical {
		if c.Kind == KindAll && c.Tokens > 0 {
			unit := "whole blocks"
			if c.Exact {
				unit = "exact to the token"
			}
			return fmt.Sprintf("%.0f %% of the prompts begin with the same %.0f tokens, byte-identical (%s)", 100*float64(c.Share), float64(c.Tokens), unit)
		}
	}
	return ""
}

// The kinds of a CommonPrefix.
const (
	KindAll     = "all"
	KindModel   = "model"
	KindAdapter = "adapter"
)

func (p *Prefix) checkSharing() error {
	for i, c := range p.Identical {
		switch {
		case c.Kind != KindAll && c.Kind != KindModel && c.Kind != KindAdapter:
			return fmt.Errorf("common_prefix[%d].kind is %.20q, want all, model or adapter", i, c.Kind)
		case (c.Kind == KindAll) != (c.Alias == ""):
			return fmt.Errorf("common_prefix[%d]: an alias goes with model or adapter", i)
		}
		if err := errors.Join(share("common_prefix.share", c.Share), tokens("common_prefix.tokens", c.Tokens)); err != nil {
			return err
		}
	}
	for i, c := range p.Curve {
		if i > 0 && c.CapacityTokens <= p.Curve[i-1].CapacityTokens {
			return fmt.Errorf("cache_curve[%d].capacity_tokens is out of order", i)
		}
		if !(c.CapacityTokens > 0 && c.CapacityTokens <= maxDistance) {
			return fmt.Errorf("cache_curve[%d].capacity_tokens is no size", i)
		}
		if err := errors.Join(share("cache_curve.hit_rate_tokens", c.Tokens), share("cache_curve.hit_rate_blocks", c.Blocks)); err != nil {
			return err
		}
	}
	if p.ReuseTimes != nil {
		if err := checkTable("reuse_times_s", p.ReuseTimes.P, p.ReuseTimes.Values, maxSeconds); err != nil {
			return err
		}
	}
	if g := p.Generated; g != nil {
		if err := errors.Join(share("generated.share_of_hit_tokens", g.Share), share("generated.hit_rate_tokens", g.HitRate), checkIdentity("generated.by", g.By)); err != nil {
			return err
		}
	}
	if n := p.ShareBeyond; n != nil {
		if err := share("share_beyond_common", n.Value); err != nil {
			return err
		}
	}
	return p.checkBroken()
}

func (p *Prefix) checkBroken() error {
	if p.Broken == nil && len(p.Further) > 0 {
		return errors.New("broken_further goes with broken")
	}
	sum, before := Num(0), Num(0)
	for i, b := range p.AllBroken() {
		key := "broken"
		if i > 0 {
			key = fmt.Sprintf("broken_further[%d]", i-1)
		}
		if err := errors.Join(share(key+".share", b.Share), tokens(key+".tokens_shared_now", b.Now),
			tokens(key+".tokens_if_moved", b.Would), tokens(key+".at_token", b.At)); err != nil {
			return err
		}
		switch {
		case !b.Behind:
			sum += b.Share
		case b.Share > before:
			return fmt.Errorf("%s is behind the field of fewer requests", key)
		}
		before = b.Share
	}
	if sum > 1+1e-4 {
		return fmt.Errorf("broken and broken_further are %v of the requests, want at most all", float64(sum))
	}
	return nil
}

// tokens checks a number of tokens.
func tokens(key string, v Num) error {
	if !(v >= 0 && v <= maxTokens) {
		return fmt.Errorf("%s is %v, want a number of tokens", key, v)
	}
	return nil
}

// maxSeconds bounds times between events: a thousand years.
const maxSeconds = 3.2e10
