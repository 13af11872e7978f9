package main

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Operation is one operation on a pool, at some moment between Call and Return (ns, any origin).
//
//	grant    Session got Browser; Ticket is its place in the queue, 0 where the order is not known
//	release  Session ended, with Outcome: "ok"; "gone", when there was no such session; "unknown", when it may have happened
type Operation struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Session string `json:"session"`
	Browser string `json:"browser"`
	Ticket  int64  `json:"ticket"`
	Outcome string `json:"outcome"`
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
}

// An operation with small numbers in the place of names; session 0 means no session.
type input struct {
	operation Operation
	session   int32
	browser   int32
}

// A pool is a set of browsers, each held by at most one session, and a queue that grants in the order of the tickets.
type pool struct {
	lastTicket int64
	// The session that holds each browser; 0 when no session does.
	holders []int32
}

func (p pool) with(browser, session int32) pool {
	holders := slices.Clone(p.holders)
	holders[browser] = session
	return pool{p.lastTicket, holders}
}

// step returns the possible states of the pool after the operation; none when the operation can't happen in this state.
func (p pool) step(in input) []interface{} {
	holder := p.holders[in.browser]
	holds := holder == in.session
	switch in.operation.Kind {
	case "grant":
		isNext := in.operation.Ticket == 0 || in.operation.Ticket > p.lastTicket
		if holder != 0 || !isNext {
			return nil
		}
		next := p.with(in.browser, in.session)
		next.lastTicket = max(p.lastTicket, in.operation.Ticket)
		return []interface{}{next}
	case "release":
		freed := p.with(in.browser, 0)
		switch {
		case in.operation.Outcome == "ok" && holds:
			return []interface{}{freed}
		case in.operation.Outcome == "gone" && !holds:
			return []interface{}{p}
		case in.operation.Outcome == "unknown" && holds:
			return []interface{}{p, freed}
		case in.operation.Outcome == "unknown":
			return []interface{}{p}
		}
		return nil
	}
	panic("unknown kind of operation: " + in.operation.Kind)
}

func (p pool) hash() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, p.lastTicket, p.holders)
	return h.Sum64()
}

// byBrowser splits the operations by browser: without tickets, operations on different browsers don't affect each other.
func byBrowser(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int32][]porcupine.Operation{}
	for _, operation := range history {
		browser := operation.Input.(input).browser
		parts[browser] = append(parts[browser], operation)
	}
	return slices.Collect(maps.Values(parts))
}

// modelOf returns the model of a pool. Without tickets it checks every browser alone, which is much less work.
func modelOf(browsers int, hasTickets bool) porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{pool{holders: make([]int32, browsers)}} },
		Step: func(state, in, _ interface{}) []interface{} { return state.(pool).step(in.(input)) },
		Equal: func(a, b interface{}) bool {
			one, other := a.(pool), b.(pool)
			return one.lastTicket == other.lastTicket && slices.Equal(one.holders, other.holders)
		},
		Hash: func(state interface{}) uint64 { return state.(pool).hash() },
	}
	if !hasTickets {
		nondeterministic.Partition = byBrowser
	}
	return nondeterministic.ToModel()
}

// numberer assigns each name a number, from `first` on.
func numberer(first int32) (func(string) int32, func() int) {
	known := map[string]int32{}
	number := func(name string) int32 {
		if _, ok := known[name]; !ok {
			known[name] = first + int32(len(known))
		}
		return known[name]
	}
	return number, func() int { return len(known) }
}

// prepare converts the operations for porcupine, with the model of a pool that has all their browsers.
func prepare(operations []Operation) (porcupine.Model, []porcupine.Operation) {
	session, _ := numberer(1)
	browser, browsers := numberer(0)
	history := make([]porcupine.Operation, 0, len(operations))
	for index, operation := range operations {
		in := input{operation, session(operation.Session), browser(operation.Browser)}
		history = append(history, porcupine.Operation{
			ClientId: index, Input: in, Call: operation.Call, Return: operation.Return,
		})
	}
	hasTickets := slices.ContainsFunc(operations, func(operation Operation) bool { return operation.Ticket != 0 })
	return modelOf(browsers(), hasTickets), history
}
