package join

import (
	"cmp"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// None is the trailer Checkpoint-After of a first checkpoint.
const None = "none"

// Order returns the members, oldest first. The order is topological: a member stands after all
// members whose ids its Checkpoint-After names. Of several members that could be next, the order
// takes the smallest clock, then the smallest id, then the smallest content.
//
// A deleted or pruned fact adds the edges of a missing checkpoint. Order ignores the edges of a cycle,
// which only forged checkpoints have.
func (s State) Order() []Member {
	g := &graph{state: s, byID: map[checkpoint.ID][]int{}}
	for m := range s.Members {
		g.byID[m.ID] = append(g.byID[m.ID], len(g.members))
		g.members = append(g.members, m)
	}
	g.connect()
	g.findCycles()
	return g.sort()
}

// A graph has a node for each member, followed by one for each id that only facts describe.
type graph struct {
	state   State
	members []Member
	byID    map[checkpoint.ID][]int
	before  [][]int // nodes that a node stands after
	cycle   []int   // by node: number of its strongly connected component
}

// connect sets before. It appends the nodes that only facts describe.
func (g *graph) connect() {
	for n := 0; n < len(g.members); n++ {
		m := g.members[n]
		var after []checkpoint.ID
		if c, is := g.state.Members[m]; is {
			if c.After != None {
				for word := range strings.FieldsSeq(c.After) {
					after = append(after, checkpoint.ID(word))
				}
			}
		} else {
			after, _ = g.state.Ledger.After(m.ID)
		}
		var before []int
		for _, id := range after {
			if id != m.ID {
				before = append(before, g.nodes(id)...)
			}
		}
		g.before = append(g.before, before)
	}
}

func (g *graph) nodes(id checkpoint.ID) []int {
	if g.byID[id] == nil && g.state.Ledger != nil {
		if _, known := g.state.Ledger.After(id); known {
			g.byID[id] = []int{len(g.members)}
			g.members = append(g.members, Member{ID: id})
		}
	}
	return g.byID[id]
}

// findCycles numbers the strongly connected components, by Tarjan's algorithm.
func (g *graph) findCycles() {
	g.cycle = make([]int, len(g.members))
	index, low, onStack := make([]int, len(g.members)), make([]int, len(g.members)), make([]bool, len(g.members))
	var stack []int
	count, components := 0, 0
	var visit func(n int)
	visit = func(n int) {
		count++
		index[n], low[n], onStack[n] = count, count, true
		stack = append(stack, n)
		for _, b := range g.before[n] {
			if index[b] == 0 {
				visit(b)
				low[n] = min(low[n], low[b])
			} else if onStack[b] {
				low[n] = min(low[n], index[b])
			}
		}
		if low[n] != index[n] {
			return
		}
		for components++; onStack[n]; {
			top := stack[len(stack)-1]
			stack, onStack[top], g.cycle[top] = stack[:len(stack)-1], false, components
		}
	}
	for n := range g.members {
		if index[n] == 0 {
			visit(n)
		}
	}
}

func (g *graph) sort() (order []Member) {
	waits, next := make([]int, len(g.members)), make([][]int, len(g.members))
	for n, before := range g.before {
		for _, b := range before {
			if g.cycle[b] != g.cycle[n] {
				waits[n]++
				next[b] = append(next[b], n)
			}
		}
	}
	last := func(a, b int) int { return g.compare(b, a) }
	var ready []int // the next one last
	for n := range g.members {
		if waits[n] == 0 {
			ready = append(ready, n)
		}
	}
	slices.SortFunc(ready, last)
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if g.isMember(n) {
			order = append(order, g.members[n])
		}
		for _, after := range next[n] {
			if waits[after]--; waits[after] == 0 {
				at, _ := slices.BinarySearchFunc(ready, after, last)
				ready = slices.Insert(ready, at, after)
			}
		}
	}
	return order
}

func (g *graph) isMember(n int) bool { return n < len(g.state.Members) }

// compare orders two nodes that are ready: members by clock, id and content. Nodes without a member come
// first: they only pass the order on.
func (g *graph) compare(a, b int) int {
	if x, y := g.isMember(a), g.isMember(b); !x || !y {
		return cmp.Or(cmp.Compare(min(b, len(g.state.Members)), min(a, len(g.state.Members))), cmp.Compare(a, b))
	}
	x, y := g.members[a], g.members[b]
	return cmp.Or(cmp.Compare(g.state.Members[x].Clock, g.state.Members[y].Clock), cmp.Compare(x.ID, y.ID), cmp.Compare(x.Content, y.Content))
}
