package demolog

import (
	"fmt"
	"math"
	"strings"
)

// instructions is the block that every prompt begins with.
var instructions = "You are the support assistant of Northlight Mutual, an insurer for households and small firms. " +
	"Follow every rule below. If two rules disagree, the one with the lower number wins.\n\n" + rules()

func rules() string {
	var b strings.Builder
	for i, r := range []string{
		"Greet the person once, in the language in which they write, and never use their full name unless they gave it in this conversation.",
		"Answer only questions about contracts, claims, payments, addresses, coverage and the online account; for anything else say that you cannot help with it.",
		"Never state that a claim is accepted or refused. Say what the next step is, who takes it, and how many working days it usually takes.",
		"When a person reports an injury, an accident that is still going on, or water, fire or gas that is not under control, give the emergency number of their country first and the claims line second.",
		"Ask for the contract number before you speak about a contract. A contract number has two letters and seven digits. If it does not, say so and ask again.",
		"Do not repeat bank details, card numbers, dates of birth or medical facts back to the person, even when they ask you to confirm them.",
		"Coverage for household contents begins at midnight after the first payment. Coverage for buildings begins on the date in the certificate.",
		"A deductible applies once for each event, not once for each item. Two events on one day are two events.",
		"Bicycles are covered outside the home only with the mobility option, and only when they were locked to a fixed object.",
		"Glass is covered without a deductible when it is repaired rather than replaced.",
		"Water damage from outside, such as flood or ground water, needs the natural hazards option. Water damage from pipes does not.",
		"When a person wants to cancel, name the notice period of their contract, offer to note the date, and do not argue.",
		"Premiums are due on the first day of a quarter. A payment that is late by less than fourteen days has no consequence.",
		"A change of address takes effect on the day on which the person moves. Ask for the day, the postal code and the number of rooms.",
		"Photographs of damage may be uploaded in the online account under Claims, New photograph. Each file may have up to twenty megabytes.",
		"Repairs above one thousand euros need an estimate from a craft business before they begin, except when waiting would make the damage larger.",
		"For a theft the person must first report it to the police and give you the reference number of the report.",
		"If somebody writes in anger, name the reason for the anger in one sentence, apologise once if the fault is ours, and go on with the matter.",
		"If you do not know, say so, and offer a call back. Call backs are possible on working days from eight to eighteen.",
		"Firms with more than ten employees are served by the corporate desk. Give its address and end the conversation politely.",
		"Never invent contract terms, amounts, dates or names. Quote terms only from the documents that are given to you in this conversation.",
		"Keep answers short: at most six sentences, or a list of at most five points. Do not use headings.",
		"At the end of an answer that needs something from the person, repeat in one line what you need and by when.",
		"When a person asks for a human, hand over at once and write a summary of three lines for the colleague.",
	} {
		fmt.Fprintf(&b, "%d. %s\n", i+1, r)
	}
	return b.String()
}

var (
	openings = []string{"Hello,", "Good morning,", "Hi there,", "Dear team,", "Good evening,"}
	topics   = []string{
		"a pipe burst behind the kitchen wall and the floor is wet",
		"my bicycle was taken from the cellar last night",
		"the storm broke two windows in the living room",
		"I moved to a smaller flat and want my premium to be checked",
		"the payment for this quarter was taken twice",
		"my neighbour's tree fell onto our garden shed",
		"I cannot find the certificate for the building contract",
		"the craftsman wants to start before I have your answer",
		"our shop was closed for three days after the power failed",
		"I would like to add my partner to the contract",
	}
	details = []string{
		"It happened on the %d. of the month, in the evening.",
		"My contract number is NM%07d.",
		"I have already sent %d photographs through the online account.",
		"The estimate of the craft business says %d euros.",
		"There are %d rooms, and the damage is in two of them.",
		"I called the claims line and waited for %d minutes.",
		"You can reach me at maria.example%d@mail.example in the evening.",
		"The police gave me the reference %d for the report.",
	}
	asks = []string{"What do I have to do now?", "Does my contract cover this?", "How long will it take?", "Can somebody call me back?", "Which papers do you need from me?"}

	sentences = []string{
		"Thank you for the details; I have noted them for the colleagues who handle the claim.",
		"Please keep the damaged parts until somebody has looked at them or until we tell you that photographs are enough.",
		"The deductible of your contract applies once, since everything you describe belongs to one event.",
		"An estimate is needed before the repair begins, because the amount is above one thousand euros.",
		"If waiting would make the damage larger, let the craft business do what is necessary at once and keep the bill.",
		"You can upload the photographs in the online account under Claims, New photograph.",
		"A colleague will look at the documents within five working days and then write to you.",
		"The change takes effect on the day on which you move, so the premium is computed from that day on.",
		"Water from a pipe is part of the household contract; water from outside needs the natural hazards option.",
		"To go on I need your contract number and the day on which the damage happened.",
		"A call back is possible on working days from eight to eighteen; tell me which hour suits you.",
		"I cannot say whether the claim will be accepted, but I can tell you that nothing is missing from it.",
	}
)

// question is what the person writes; first messages are longer.
func (g *generator) question(turn int) string {
	var b strings.Builder
	if turn == 0 {
		fmt.Fprintf(&b, "%s %s. ", pick(g.rng, openings), pick(g.rng, topics))
	}
	n := 1 + g.rng.IntN(3)
	if turn == 0 {
		n += int(math.Exp(g.rng.NormFloat64() * 0.9))
	}
	for range n {
		fmt.Fprintf(&b, pick(g.rng, details)+" ", 1+g.rng.IntN(9999))
	}
	b.WriteString(pick(g.rng, asks))
	return b.String()
}

// answer has a lognormal number of sentences.
func (g *generator) answer() string {
	n := max(1, min(24, int(math.Round(math.Exp(1.1+0.6*g.rng.NormFloat64())))))
	parts := make([]string, n)
	for i := range parts {
		parts[i] = pick(g.rng, sentences)
	}
	return strings.Join(parts, " ")
}
