// Package chat reads prompts and answers in the shapes of the interfaces that
// serve them: OpenAI's, Anthropic's, Gemini's, Bedrock's, LangChain's and the
// conventions of OpenTelemetry and OpenInference.
//
//	Messages     what was asked, as messages of role and text
//	Content      the text of one content, and how many parts are not text
//	Answer       what was generated: messages, choices, whole responses or the
//	             events of a stream
//	FinishOf,    the vendors' words for how it ended and which interface it was,
//	Endpoint     as the classes of a trace
//
// Units: media are counted in parts. A shape that is unknown is told by ok and
// is no error; depth is bounded.
//
// Not done here: where in a row they stand.
package chat
