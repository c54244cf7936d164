package join

// A Chain is a state as it is written down.
type Chain struct {
	Tip   string // the hash of its newest commit, in hex; "" where there is no chain
	State State
}

// Merge joins what chains of one issue say. As is the index of a chain that
// says all of it already, of several the one with the smallest tip: so clones
// that know the same settle on the same commits. It is -1 where a new chain
// has to be made.
func Merge(chains ...Chain) (joined State, as int) {
	states := make([]State, len(chains))
	for k, c := range chains {
		states[k] = c.State
	}
	joined, as = MergeStates(states...), -1
	for k, c := range chains {
		if c.Tip != "" && (as < 0 || c.Tip < chains[as].Tip) && c.State.contains(joined) {
			as = k
		}
	}
	return joined, as
}
