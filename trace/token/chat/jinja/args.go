package jinja

// take returns the value of a parameter by position or name.
func (a *args) take(i int, name string) (any, bool) {
	if i >= 0 && i < len(a.list) {
		return a.list[i], true
	}
	for j, n := range a.names {
		if n == name {
			return a.named[j], true
		}
	}
	return nil, false
}

// text returns a parameter that must be a string.
func (a *args) text(s *state, i int, name, def string) string {
	v, ok := a.take(i, name)
	if !ok {
		return def
	}
	if t, ok := bare(v).(string); ok {
		return t
	}
	s.fail("%s is %s, want a string", name, typeName(v))
	return ""
}

// int returns a parameter that must be an integer.
func (a *args) int(s *state, i int, name string, def int64) int64 {
	v, ok := a.take(i, name)
	if !ok {
		return def
	}
	n, _, float, ok := number(v)
	if !ok || float {
		s.fail("%s is %s, want an integer", name, typeName(v))
	}
	return n
}

// bool returns the truth of a parameter.
func (a *args) bool(i int, name string, def bool) bool {
	if v, ok := a.take(i, name); ok {
		return truth(v)
	}
	return def
}

// after are the arguments from the i-th on.
func (a *args) after(i int) args {
	return args{list: a.list[min(i, len(a.list)):], names: a.names, named: a.named}
}
