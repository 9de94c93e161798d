package report

import (
	"io"

	"reprise/trace/strictjson"
)

// JSON writes the report as reprise.report JSON: every duration is in
// milliseconds or seconds and says so in its key, and what is not known is null.
func (r *Report) JSON(w io.Writer) error {
	b, err := strictjson.Encode(r)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
