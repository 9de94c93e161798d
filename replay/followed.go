package replay

import "fmt"

// Followed reads what was scraped in the run: from the last scrape before its
// zero on that has all metrics which the first one has. What came before is of
// the time in which clients get ready, of other machines' requests too, and in
// no figure of the run. Without a scrape before the zero it is all there is.
func (d *Dir) Followed() ([]ServerRow, error) {
	var rows []ServerRow
	for s, err := range d.Server() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, err)
		}
		rows = append(rows, s)
	}
	return fromStart(rows), nil
}

// fromStart drops the scrapes before the one that tells how the server's counts
// stood at the run's zero. A scrape between without buckets does not.
func fromStart(rows []ServerRow) []ServerRow {
	start := 0
	first := map[string]bool{}
	for from := 0; from < len(rows) && rows[from].TNS < 0; {
		to := from
		names := map[string]bool{}
		for ; to < len(rows) && rows[to].TNS == rows[from].TNS; to++ {
			names[rows[to].Name] = true
		}
		if from == 0 {
			first = names
		}
		if hasAll(names, first) {
			start = from
		}
		from = to
	}
	return rows[start:]
}

func hasAll(names, wanted map[string]bool) bool {
	for n := range wanted {
		if !names[n] {
			return false
		}
	}
	return true
}
