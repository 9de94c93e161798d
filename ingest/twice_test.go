package ingest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("SKIPPED, not tested: no time zones here")
	}
	return zone
}

// TestInstants: every instant of some years, in zones with changes of an hour and
// of half an hour, north and south, at whole hours and not, is one of those that
// the time shown stands for; and a time that is not shown is told.
func TestInstants(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca", "America/St_Johns", "Pacific/Apia", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip("SKIPPED, not tested: no time zones here")
		}
		l, rng := localTime{zone: zone}, rand.New(rand.NewPCG(1, 2))
		begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := begin; at.Year() < 2027; at = at.Add(time.Duration(1+rng.Int64N(7)) * 7 * time.Minute) {
			shown := at.In(zone)
			_, offset := shown.Zone()
			first, later, skipped := l.instant(at.UnixMicro() + int64(offset)*1e6)
			if skipped || first != at.UnixMicro() && (later <= 0 || first+later != at.UnixMicro()) {
				t.Fatalf("%s: %s is read as %s, or %d µs later (skipped: %v)", name, shown, time.UnixMicro(first).In(zone), later, skipped)
			}
		}
	}
	l := localTime{zone: berlin(t)}
	at, _, skipped := l.instant(time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC).UnixMicro())
	if want := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC).UnixMicro(); !skipped || at != want {
		t.Errorf("a time that was skipped: %v, %v", time.UnixMicro(at).UTC(), skipped)
	}
}

// fallBack is a day around the end of summer time in Berlin, as instants.
func fallBack(rng *rand.Rand, perHour int) []time.Time {
	begin := time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC)
	var out []time.Time
	for range 20 * perHour {
		out = append(out, begin.Add(time.Duration(rng.Int64N(int64(20*time.Hour)))).Truncate(time.Millisecond))
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// localLog writes instants as Berlin's clock shows them, with an end some seconds
// later.
func localLog(zone *time.Location, instants []time.Time) string {
	var b strings.Builder
	for i, at := range instants {
		end := at.Add(time.Duration(i%40) * time.Second)
		fmt.Fprintf(&b, `{"at":%q,"end":%q,"in":5,"n":%d}`+"\n", at.In(zone).Format("2006-01-02 15:04:05.000"), end.In(zone).Format("2006-01-02 15:04:05.000"), i)
	}
	return b.String()
}

func readLocal(t *testing.T, zone *time.Location, log string, args ...string) (*Log, []Record) {
	t.Helper()
	m, err := ParseMap(append([]string{"input_tokens=in", "request_id=n"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	l, recs, bad, err := readAll(t, Inputs{Stdin: strings.NewReader(log), Map: m, Zone: zone})
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	return l, recs
}

// TestHourShownTwice: in the order in which logs are written, all instants come
// out as they were: first to last, last to first, by the end of the requests,
// and two days one behind the other; sparse and dense.
func TestHourShownTwice(t *testing.T) {
	zone := berlin(t)
	for _, perHour := range []int{20, 500} {
		rng := rand.New(rand.NewPCG(7, uint64(perHour)))
		up := fallBack(rng, perHour)
		down := slices.Clone(up)
		slices.Reverse(down)
		jitter := slices.Clone(up)
		byEnd := make(map[time.Time]time.Duration, len(up))
		for _, at := range up {
			byEnd[at] = time.Duration(rng.ExpFloat64() * float64(40*time.Second))
		}
		slices.SortStableFunc(jitter, func(a, b time.Time) int { return a.Add(byEnd[a]).Compare(b.Add(byEnd[b])) })
		for name, log := range map[string][]time.Time{"up": up, "down": down, "by end": jitter, "twice": slices.Concat(up, fallBack(rng, perHour))} {
			l, recs := readLocal(t, zone, localLog(zone, log), "arrival=at", "end=end")
			wrong, spans := 0, 0
			for i, r := range recs {
				if r.Arrival.V != log[i].UnixMicro() {
					wrong++
				}
				if want := int64(i%40) * 1e6; !r.Duration.OK || r.Duration.V != want || r.End.V-r.Arrival.V != want {
					spans++
				}
			}
			c := l.Clock()
			if limit := len(recs) / 1000; wrong > limit || spans > 0 || c.Untold > 0 || c.First == 0 || c.Second == 0 {
				t.Errorf("%s, %d an hour: %d of %d arrivals and %d durations are wrong; %+v", name, perHour, wrong, len(recs), spans, c)
			}
		}
	}
}

// TestHourByEnd: arrivals that follow from end and duration go with the end.
func TestHourByEnd(t *testing.T) {
	zone := berlin(t)
	up := fallBack(rand.New(rand.NewPCG(7, 7)), 500)
	var b strings.Builder
	for i, at := range up {
		fmt.Fprintf(&b, `{"end":%q,"took":%d,"in":5,"n":%d}`+"\n", at.In(zone).Format("2006-01-02 15:04:05.000"), i%40, i)
	}
	_, recs := readLocal(t, zone, b.String(), "end=end", "duration=took@s")
	for i, r := range recs {
		if want := up[i].UnixMicro() - int64(i%40)*1e6; r.Arrival.V != want || r.End.V != up[i].UnixMicro() {
			t.Fatalf("row %d: arrival %d, end %d; want %d and %d", i+1, r.Arrival.V, r.End.V, want, up[i].UnixMicro())
		}
	}
}

// TestHourUntold: where no order tells, the first is taken and it is said: in a
// shuffled log, and in one that begins in that hour and never goes back.
func TestHourUntold(t *testing.T) {
	zone := berlin(t)
	rng := rand.New(rand.NewPCG(7, 9))
	mixed := fallBack(rng, 300)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	l, recs := readLocal(t, zone, localLog(zone, mixed), "arrival=at")
	from, to := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 2, 0, 0, 0, time.UTC)
	var twice, second int64
	for i, r := range recs {
		if at := mixed[i]; !at.Before(from) && at.Before(to) {
			twice++
			if r.Arrival.V >= from.Add(time.Hour).UnixMicro() {
				second++
			}
		}
	}
	c := l.Clock()
	if c.First+c.Second+c.Untold != twice || c.Untold < twice*9/10 || second > twice/20 {
		t.Errorf("shuffled: %+v of %d, %d of the second pass", c, twice, second)
	}
	notes := strings.Join(l.Notes(), "\n")
	if want := fmt.Sprintf("%d requests are in an hour that the clock of Europe/Berlin, as --timezone says, showed twice", twice); !strings.Contains(notes, want) || !strings.Contains(notes, fmt.Sprintf("nothing tells which for %d", c.Untold)) {
		t.Error(notes)
	}
	late := []time.Time{to.Add(-30 * time.Minute), to.Add(-20 * time.Minute), to.Add(time.Hour)}
	if l, _ := readLocal(t, zone, localLog(zone, late), "arrival=at"); l.Clock() != (Clock{Untold: 2}) {
		t.Errorf("a log that begins in the hour: %+v", l.Clock())
	}
	var down []time.Time // last to first, from the second pass on
	for m := range 110 {
		down = append(down, to.Add(-time.Duration(5+m)*time.Minute))
	}
	l, _ = readLocal(t, zone, localLog(zone, down), "arrival=at")
	if c := l.Clock(); c.First > 0 {
		t.Errorf("a log that ends in the hour, last to first, of which nothing tells the second pass: %+v", c)
	}
}

// TestSkippedHour: times that a clock did not show are told.
func TestSkippedHour(t *testing.T) {
	log := `{"at":"2026-03-29 01:59:00","in":5,"n":1}` + "\n" + `{"at":"2026-03-29 02:30:00","in":5,"n":2}` + "\n" + `{"at":"2026-03-29 03:00:00","in":5,"n":3}` + "\n"
	l, _ := readLocal(t, berlin(t), log, "arrival=at")
	if notes := strings.Join(l.Notes(), "\n"); l.Clock().Skipped != 1 || !strings.Contains(notes, "1 times do not exist: the clock of Europe/Berlin") {
		t.Errorf("%+v, %s", l.Clock(), notes)
	}
	// A request is counted once, whatever it has of times.
	log = `{"at":"2026-03-29 02:30:00","first":"2026-03-29 02:30:01","end":"2026-03-29 02:30:02","in":5,"n":1}` + "\n" + `{"first":"2026-03-29 02:40:01","end":"2026-03-29 02:40:02","took":2,"in":5,"n":2}` + "\n"
	l, _ = readLocal(t, berlin(t), log, "arrival=at", "first_token=first", "end=end", "duration=took@s")
	if notes := strings.Join(l.Notes(), "\n"); l.Clock().Skipped != 2 || !strings.Contains(notes, "5 times do not exist") {
		t.Errorf("%+v, %s", l.Clock(), notes)
	}
}
