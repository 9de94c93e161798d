package ingest

// Several reports whether the log has more than one file, so that a row may be
// there twice.
func (l *Log) Several() bool { return len(l.files) > 1 || len(l.looked) > 1 }
