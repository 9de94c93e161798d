package mock

import (
	"time"
)

// ending is how a body ends, or that it does not yet.
type ending uint8

const (
	goesOn    ending = iota
	endWhole         // as it should, with the last chunk
	endFIN           // FIN instead of the last chunk
	endShort         // FIN inside a chunk that promised more
	endReset         // RST
	endSilent        // never: nothing comes until the client leaves
)

// outlet is where an answer under a script leaves: net/http's response, or a
// connection of our own server. One goroutine uses it. An error says that the
// client has gone away.
type outlet interface {
	// answer sends a whole answer in place of the scripted one.
	answer(a *answer)
	// open sends the head of a 200 whose body has no length given.
	open(header []field) error
	// write sends a piece of the body at once, as one chunk where it is chunked.
	write(p []byte) error
	// finish ends the body, with p of endShort's broken chunk; after any ending
	// but endWhole the connection is gone. It is not called for endSilent.
	finish(how ending, p []byte)
}

// segment is a piece of a body, and when it leaves. Times of segments never
// decrease. The data of an endShort is part of the chunk that is broken off.
type segment struct {
	at   time.Duration // since the engine's zero
	data []byte        // may be empty when the body ends
	end  ending
}
