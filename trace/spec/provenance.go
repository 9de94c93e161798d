package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Units are the units that numbers of a spec may have; "1" is a plain ratio.
func Units() []string { return []string{"tokens", "1/s", "s", "1", "sessions", "turns", "requests"} }

// checkProvenance walks every number and table of the workload: each says where
// it comes from, and an assumed one what to ask for.
func checkProvenance(w *Workload) error {
	return eachField(reflect.ValueOf(w).Elem(), "workload", func(v any) error {
		switch n := v.(type) {
		case Number:
			return n.check()
		case Provenance:
			return n.check()
		}
		return nil
	})
}

// eachField calls f on every struct inside v, with the path of its key in the
// error.
func eachField(v reflect.Value, path string, f func(any) error) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return eachField(v.Elem(), path, f)
	case reflect.Slice:
		for i := range v.Len() {
			if err := eachField(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if err := f(v.Interface()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			at := path
			if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" {
				at += "." + key
			}
			if err := eachField(v.Field(i), at, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n Number) check() error {
	switch {
	case !finite(n.Value):
		return errors.New("value is not a finite number")
	case !slices.Contains(Units(), n.Unit):
		return fmt.Errorf("unit is %.20q, want one of %s", n.Unit, strings.Join(Units(), ", "))
	}
	return Provenance{From: n.From, N: n.N, Ask: n.Ask, Confidence: n.Confidence}.check()
}

func (p Provenance) check() error {
	switch {
	case !p.From.valid():
		return fmt.Errorf("from is %.20q, want measured, estimated or assumed", p.From)
	case p.Confidence != "" && !slices.Contains(Confidences(), p.Confidence):
		return fmt.Errorf("confidence is %.20q, want one of %s", p.Confidence, strings.Join(Confidences(), ", "))
	case p.N < 0:
		return errors.New("n is negative")
	case p.From == Assumed && p.Ask == "":
		return errors.New("an assumed number must carry the data request that would replace it")
	}
	return nil
}

// share checks a number that is a part of a whole.
func share(key string, v Num) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is %v, want a share from 0 to 1", key, v)
	}
	return nil
}

// checkShares holds shares to 0…1 and sizes to 0 and above.
func (w *Workload) checkShares() error {
	var errs []error
	part := func(key string, n *Number) {
		if n != nil {
			errs = append(errs, share(key, n.Value))
		}
	}
	size := func(key string, v Num) {
		if !finite(v) || v < 0 {
			errs = append(errs, fmt.Errorf("%s is %v, want 0 or more", key, v))
		}
	}
	part("prefix.share_requests", w.Prefix.ShareRequests)
	for _, h := range w.Prefix.HitRates {
		part("prefix.hit_rates", &h.Number)
	}
	for _, r := range w.Prefix.Roots {
		errs = append(errs, share("prefix.roots.share", r.Share))
		size("prefix.roots.tokens", r.Tokens)
	}
	f := &w.Features
	for _, n := range []*Number{f.Stream, f.Tools, f.Schema, f.Several, f.Chat} {
		part("features", n)
	}
	for _, s := range slices.Concat(f.Models, f.Adapters) {
		part("features: share of an alias", &s.Number)
	}
	if s := w.Sessions; s != nil {
		part("sessions.share_multi_turn", &s.ShareMultiple)
	}
	for _, l := range []*Length{&w.Lengths.Input, &w.Lengths.Output} {
		size("lengths.mean", l.Mean.Value)
		if l.SD != nil {
			size("lengths.sd", l.SD.Value)
		}
		for _, f := range l.Families {
			errs = append(errs, share("lengths.families.ks", f.KS))
		}
	}
	for _, n := range []*Number{w.Arrivals.Span, w.Arrivals.Resolution, w.Arrivals.CV, w.Arrivals.LocalCV} {
		if n != nil {
			size("arrivals", n.Value)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
