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

// outlet is where the body of an answer under a script leaves. Its head has
// been sent. One goroutine uses it.
type outlet interface {
	// write sends a piece of the body, as one chunk where the body is chunked.
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
