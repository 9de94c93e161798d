package report

import (
	"bytes"
	"strings"
	"testing"

	"reprise/replay"
)

// A closed loop plans no instant, and nothing of its report runs from one.
func TestClosedLoopHasNoPlannedInstant(t *testing.T) {
	run := testRun()
	run.Mode = replay.ClosedLoop
	rep := build(t, Input{Run: run, Results: seq(lagging(300, 0.2, 0.1))})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return rep.Text(b) },
		"html": func(b *bytes.Buffer) error { return rep.HTML(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		said, _, _ := strings.Cut(strings.Join(strings.Fields(b.String()), " "), "What the words mean")
		if i := strings.Index(said, "the planned instant"); i >= 0 {
			t.Errorf("%s: %s", name, said[max(0, i-200):i+100])
		}
		if !strings.Contains(said, "from its slot being free") {
			t.Errorf("%s does not say where a latency starts", name)
		}
	}
}

// Every class has its place in the report, those that no request ended in too.
func TestEveryClassIsNamed(t *testing.T) {
	rep := build(t, Input{Run: testRun(), Results: seq(append(ramp(20), failed(3, replay.Overload)))})
	all := ""
	for _, row := range rep.Summaries[0].outcomeCells() {
		all += row[0] + ", "
	}
	for _, c := range replay.Classes() {
		if strings.Count(" "+all, " "+c.String()+", ") != 1 {
			t.Errorf("%s is not named once in %q", c, all)
		}
	}
}
