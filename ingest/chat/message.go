package chat

// Message is one message of a chat prompt: text parts joined, tool calls as
// their JSON.
type Message struct {
	Role string
	Name string
	Text string
	// Shape is the message's JSON where it has the form of OpenAI's chat interface
	// and is more than a role and a text: parts, tool calls, results of tools.
	// Images and audio are left out of it. Chat templates need it.
	Shape string
}
