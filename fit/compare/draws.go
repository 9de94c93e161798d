package compare

// mean joins the metrics of several draws: values and distances are averaged, a
// pair is as far apart as its mean is. Draws that lack a metric are left out.
func mean(draws [][]Metric) []Metric {
	if len(draws) == 1 {
		return draws[0]
	}
	index := map[string]int{}
	var out []Metric
	var values, offs [][]float64
	for _, list := range draws {
		for _, m := range list {
			i, ok := index[m.Name]
			if !ok {
				i = len(out)
				index[m.Name] = i
				out, values, offs = append(out, m), append(values, nil), append(offs, nil)
			}
			if !m.Off.OK {
				continue
			}
			out[i].Why = m.Why
			values[i], offs[i] = append(values[i], m.B.V), append(offs[i], m.Off.V)
		}
	}
	for i := range out {
		out[i].average(values[i], offs[i])
	}
	return out
}

func (m *Metric) average(values, offs []float64) {
	if len(offs) == 0 {
		return
	}
	if m.How == Distance {
		off, sd := spread(offs)
		m.Off, m.SD = some(off), some(sd)
		return
	}
	v, sd := spread(values)
	m.B, m.SD = some(v), some(sd)
	m.Off = some(m.How.of(m.A.V, v))
}
