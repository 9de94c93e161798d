package mock

// Describe says in lines of text what goes out otherwise than from a server in
// good health: faults in order, the shape of streams and the buffering proxy.
// It is empty for none of them.
func (c *Config) Describe() []string {
	var out []string
	for _, f := range c.Faults {
		kind, err := f.kind()
		if err != nil {
			continue
		}
		out = append(out, "fault "+f.String()+": "+kind.Help)
	}
	if (c.Shape != Shape{}) {
		out = append(out, "stream shape "+c.Shape.String())
	}
	if (c.Buffer != Buffer{}) {
		out = append(out, "buffering proxy "+c.Buffer.String())
	}
	return out
}
