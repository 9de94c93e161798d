package bundle

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// rules say what profile aggregate does with each field of a workload, by type:
//
//	part     the fields inside have rules of their own
//	k        absent with fewer than k requests (sessions, turns) behind it
//	group    absent where it singles out fewer than k, of either kind
//	ends     tables: quantiles between k/n and 1-k/n
//	moves    absent: one request can move it without bound
//	calendar only as far as the calendar policy lets it
//	coarse   rounded, or recomputed of what leaves
//	bounded  one request moves it by no more than its share: the count of its section holds it
//	name     a closed word, an alias that has a rule, or what a person stated
//	words    remarks, without figures
//	frame    of what it belongs to: it says nothing without it
//
// Whoever adds a field to the spec adds its rule here, and to the code.
var rules = map[string]string{
	"Workload": "Lengths part, Arrivals part, Prefix part, Sessions part, Features part, Jobs k",
	"Lengths":  "Input part, Output part, Spearman k, Joint k, Dependence k, Drift moves, Classes k, Between moves",
	"Length":   "Mean coarse, SD moves, Quantiles ends, Families moves, Atoms k, Cap k, Tail moves, Censored group",
	"Number":   "Value frame, Unit name, From name, N frame, Ask name, Confidence name", "Provenance": "From name, N frame, Ask name, Confidence name",
	"Table": "Provenance part, P frame, Values ends", "Family": "Provenance part, Name name, Params moves, LogL moves, BIC moves, KS moves, Label name",
	"Param": "Name name, Value moves", "Atom": "Provenance part, Value frame, Share k", "Cap": "Provenance part, Value frame, Share k",
	"Dependence": "Provenance part, TV bounded, Noise bounded", "LengthDrift": "Provenance part, InputKS moves, OutputKS moves, InputNoise moves, OutputNoise moves, InputRatio moves, OutputRatio moves",
	"ClassLengths": "Provenance part, Kind name, Alias name, Input ends, Output ends", "BetweenClients": "Provenance part, Input moves, Output moves",
	"Joint": "Provenance part, Strata k", "Stratum": "Upto coarse, N k, P frame, Output ends",
	"Arrivals":  "Process name, Rate coarse, Span coarse, Resolution name, Rates k, PeakToMean k, IDC k, CV moves, LocalCV k, Gamma moves, Split frame, PeakHour k, ClockHour k, Week k, IDI moves, Rescaling k, Variants k, Notes words",
	"GapsValue": "Provenance part, Gaps frame, Value moves", "Rescaling": "Provenance part, WidthS frame, KS bounded, Null95 bounded",
	"RateSeries": "Provenance part, WidthS frame, LastS coarse, Zero calendar, Counts k", "Peak": "Provenance part, WidthS frame, Value k, PoissonP5 frame, PoissonP50 frame, PoissonP95 frame",
	"ScaleValue": "Provenance part, WidthS frame, Value k", "GammaShape": "Moments moves, MLE moves, Warning moves",
	"Split": "Provenance part, Steps frame", "SplitStep": "ParentS frame, ChildS frame, Rho bounded, NullSD bounded",
	"PeakWindow": "Provenance part, StartS coarse, WidthS frame, Rate k, Label calendar", "WeekProfile": "Provenance part, Zone name, Weeks frame, Rates k",
	"Variant": "Provenance part, Name name, Process name, Rate frame, CV frame", "Job": "Name name, Requests k, WindowS frame, StartClock name, Zone name, Input part, Output part",
	"Prefix":  "BlockTokens name, ShareRequests group, HitRates k, Roots k, Model k, Identical group, ShareBeyond group, Curve k, ReuseTimes moves, Generated k, Broken group, Further group, Notes words",
	"HitRate": "Name name, Denominator name, Number part", "Root": "Provenance part, Tokens coarse, Share k",
	"Reuse": "Provenance part, Continued group, P frame, Strata k", "ReuseStratum": "Upto coarse, N k, HitBlocks ends, Distance ends",
	"CommonPrefix": "Provenance part, Kind name, Alias name, Tokens coarse, Share group, Exact coarse", "CachePoint": "Provenance part, CapacityTokens frame, Tokens bounded, Blocks bounded",
	"Generated": "Provenance part, By name, Share bounded, HitRate bounded", "Broken": "Provenance part, Share group, Now coarse, Would coarse, At coarse, Behind frame",
	"Sessions": "Count k, MeanTurns coarse, ShareMultiple group, Turns ends, Identity name, MostTurns moves, Requests group, Tokens moves, Truncated group, Censored group, Hazards group, Between ends, Think ends, ThinkHuman ends, ThinkTool ends, Growth ends, Compacted group, Branched group, Kept ends, First ends, FirstReuse k, Starts k, Notes words",
	"Hazard":   "Provenance part, Turn frame, AndLater frame, Value group", "Starts": "Rate coarse, Rates k, IDC k",
	"Features": "Stream group, Tools group, Schema group, Several group, Chat group, Models k, Adapters k, ToolTokens ends, SchemaTokens ends",
	"Share":    "Alias name, Number part",
}

// structs are the spec's types below one, by name.
func structs(t reflect.Type, into map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		structs(t.Elem(), into)
	case reflect.Struct:
		if into[t.Name()] != nil {
			return
		}
		into[t.Name()] = t
		for i := range t.NumField() {
			structs(t.Field(i).Type, into)
		}
	}
}

// TestEveryKeyHasARule fails when the spec has a field that nobody thought of
// here, or a rule has no field.
func TestEveryKeyHasARule(t *testing.T) {
	types := map[string]reflect.Type{}
	structs(reflect.TypeFor[spec.Workload](), types)
	words := []string{"part", "k", "group", "ends", "moves", "calendar", "coarse", "bounded", "name", "words", "frame"}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		have := map[string]bool{}
		for _, r := range strings.Split(rules[name], ", ") {
			field, rule, _ := strings.Cut(r, " ")
			have[field] = slices.Contains(words, rule)
		}
		for i := range types[name].NumField() {
			f := types[name].Field(i).Name
			if !have[f] {
				t.Errorf("%s.%s has no rule", name, f)
			}
			delete(have, f)
		}
		for f := range have {
			t.Errorf("%s.%s has a rule and is no field", name, f)
		}
	}
	for name := range rules {
		if types[name] == nil {
			t.Errorf("%s has rules and is no type", name)
		}
	}
}

// thin fills a value as if one request were behind it.
func thin(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		thin(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		thin(v.Index(0))
	case reflect.String:
		v.SetString("measured")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Struct:
		for i := range v.NumField() {
			thin(v.Field(i))
		}
	}
}

// stay are optional fields that leave whoever is behind them: what a table says
// is in its own rule, and remarks hold no figure.
var stay = []string{"Arrivals.Notes", "Prefix.Notes", "Sessions.Notes", "Arrivals.Span", "Arrivals.Resolution", "Arrivals.Split"}

// TestThinGroupsGo puts into every optional field what one request says: nothing
// of it leaves.
func TestThinGroupsGo(t *testing.T) {
	in := input(sampleTrace(3, 1500), "aggregate")
	in.K, in.U = 20, 1
	for _, at := range []struct {
		name string
		of   func(*spec.Workload) reflect.Value
	}{
		{"Lengths", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(&w.Lengths).Elem() }},
		{"Length", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(&w.Lengths.Output).Elem() }},
		{"Arrivals", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(&w.Arrivals).Elem() }},
		{"Prefix", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(&w.Prefix).Elem() }},
		{"Sessions", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(w.Sessions).Elem() }},
		{"Features", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(&w.Features).Elem() }},
		{"Workload", func(w *spec.Workload) reflect.Value { return reflect.ValueOf(w).Elem() }},
	} {
		fields := at.of(&sampleSpec(in.Trace).Workload).Type()
		for i := range fields.NumField() {
			f := fields.Field(i)
			if f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Slice || slices.Contains(stay, at.name+"."+f.Name) {
				continue
			}
			sp := sampleSpec(in.Trace)
			thin(at.of(&sp.Workload).Field(i))
			out := &leaving{spec: sp}
			one := in
			one.Calendar = trace.CalendarHourOfWeek
			if err := aggregate(&one, out); err != nil {
				continue // refused: nothing leaves
			}
			if at.name == "Sessions" && sp.Workload.Sessions == nil {
				t.Errorf("%s: the whole section went", f.Name)
				continue
			}
			if v := at.of(&sp.Workload).Field(i); !v.IsNil() && (v.Kind() == reflect.Pointer || v.Len() > 0) {
				t.Errorf("%s.%s leaves with one request behind it: %+v", at.name, f.Name, reflect.Indirect(v))
			}
		}
	}
}
