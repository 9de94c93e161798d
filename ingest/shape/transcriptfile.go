package shape

import (
	"errors"
)

// transcriptFile says how to read the file that an agent writes as it goes: one
// row an event. A request is what one call to the model was: its prompt is all
// that was said before in the same thread, its answer may be spread over rows.
type transcriptFile struct {
	List    []string   `yaml:"list"`    // paths of the list of events, when a row is a whole session
	Thread  []string   `yaml:"thread"`  // paths that together name a thread; the file's name where all are absent
	Skip    conditions `yaml:"skip"`    // rows that are copies or about something else
	Reset   conditions `yaml:"reset"`   // rows at which what was said before is dropped
	Name    []string   `yaml:"name"`    // paths of a new name for the thread, in such rows
	After   []string   `yaml:"after"`   // paths of the message that takes the dropped ones' place
	Context conditions `yaml:"context"` // rows that hold for the calls after them
	Said    []string   `yaml:"said"`    // paths of the message in a row that is no answer
	Role    []string   `yaml:"role"`    // paths of who speaks, for messages that have no role themselves
	Roles   []roleFile `yaml:"roles"`   // who speaks in rows of a kind; the first that holds
	Head    string     `yaml:"head"`    // missing: what is sent before the conversation is not in the log; system: unless a system message is
	Answer  conditions `yaml:"answer"`  // rows that are an answer or a part of one
	Reply   []string   `yaml:"reply"`   // paths of the message in an answer; as said when not given
	Call    []string   `yaml:"call"`    // paths that together name the call that an answer is of
	Close   conditions `yaml:"close"`   // rows that end a call and hold its usage
	Usage   []string   `yaml:"usage"`   // paths of counts of tokens: with them, messages behind a missing head count nothing and are left out
	Total   string     `yaml:"total"`   // path of a running total in such rows: where it has not moved there was no call
}

// roleFile names who speaks in rows for which a condition holds.
type roleFile struct {
	Role string    `yaml:"role"`
	When condition `yaml:"when"`
}

func (f *transcriptFile) check() error {
	if f.Head != "" && f.Head != "missing" && f.Head != "system" {
		return errors.New("the head of a transcript can be missing or system")
	}
	if len(f.Said) == 0 || len(f.Answer)+len(f.Close) == 0 {
		return errors.New("a transcript needs said, and answer or close")
	}
	return nil
}
