package tasks

import (
	"slices"
	"strings"
)

// A CycleError reports tasks that depend on each other. IDs starts and ends with the same
// id.
type CycleError struct{ IDs []string }

func (e *CycleError) Error() string { return "a cycle of tasks: " + strings.Join(e.IDs, " -> ") }

// Layers sorts ids into layers. Each id depends only on ids in earlier layers. Ids within
// a layer are in natural order, 2 before 10. Dependencies outside ids count as satisfied.
// Layers fails with *CycleError if ids depend on each other.
func Layers(ids []string, needs func(id string) []string) ([][]string, error) {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	waits := make(map[string]int, len(ids))
	next := map[string][]string{}
	for id := range known {
		for _, n := range slices.Compact(slices.Sorted(slices.Values(needs(id)))) {
			if known[n] {
				waits[id]++
				next[n] = append(next[n], id)
			}
		}
	}
	var out [][]string
	layer := ready(known, waits)
	for left := len(known); left > 0; left -= len(out[len(out)-1]) {
		if len(layer) == 0 {
			return nil, &CycleError{cycle(known, needs)}
		}
		slices.SortFunc(layer, Natural)
		out = append(out, layer)
		layer = after(layer, waits, next, known)
	}
	return out, nil
}

// ready returns the ids without open dependencies.
func ready(known map[string]bool, waits map[string]int) []string {
	var out []string
	for id := range known {
		if waits[id] == 0 {
			out = append(out, id)
		}
	}
	return out
}

// after removes a layer and returns the ids without further dependencies.
func after(layer []string, waits map[string]int, next map[string][]string, known map[string]bool) []string {
	var out []string
	for _, id := range layer {
		delete(known, id)
		for _, n := range next[id] {
			if waits[n]--; waits[n] == 0 {
				out = append(out, n)
			}
		}
	}
	return out
}

// cycle follows dependencies from the smallest id until an id repeats, and returns the
// cycle. Each remaining id depends on another remaining id.
func cycle(left map[string]bool, needs func(id string) []string) []string {
	var way []string
	seen := map[string]int{}
	id := ""
	for one := range left {
		if id == "" || Natural(one, id) < 0 {
			id = one
		}
	}
	for {
		if at, ok := seen[id]; ok {
			return append(way[at:], id)
		}
		seen[id] = len(way)
		way = append(way, id)
		i := slices.IndexFunc(needs(id), func(n string) bool { return left[n] })
		id = needs(id)[i]
	}
}

// rounds returns the cycles through planned tasks by task id, nil if no task is in a
// cycle.
func (l *List) rounds(plans []Plan) map[string][]string {
	if l.Check() == nil {
		return nil
	}
	ways := map[string][]string{}
	for _, p := range plans {
		if way := l.round(p.ID); way != nil {
			ways[p.ID] = way
		}
	}
	return ways
}

// round returns the shortest cycle through a task, nil if the task is in no cycle.
func (l *List) round(id string) []string {
	from := map[string]string{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		for _, n := range l.needs[next[0]] {
			if _, seen := from[n]; !seen {
				from[n] = next[0]
				next = append(next, n)
			}
		}
	}
	if _, back := from[id]; !back {
		return nil
	}
	way := []string{id}
	for at := from[id]; at != id; at = from[at] {
		way = append(way, at)
	}
	way = append(way, id)
	slices.Reverse(way)
	return way
}

// Natural compares texts, with embedded numbers by value.
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return strings.Compare(x[:1], y[:1])
			}
			x, y = x[1:], y[1:]
			continue
		}
		u, v := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if len(u) != len(v) {
			return len(u) - len(v)
		}
		if c := strings.Compare(u, v); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// digits returns the number of leading digits.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
