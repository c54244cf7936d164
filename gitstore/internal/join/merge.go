package join

// A Chain pairs a state with its newest commit.
type Chain struct {
	Tip   string // commit id in hex, "" if the chain does not exist
	State State
}

// Merge returns the merged state of chains of one issue, and the index of a chain that
// already stores this state. If several chains match, the smallest tip wins, so that
// clones with the same state keep the same commits. The index is -1 if a new chain is
// necessary.
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
