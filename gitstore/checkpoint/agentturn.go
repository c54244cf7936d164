package checkpoint

import (
	"maps"
	"slices"
)

// An AgentTurn is the section agent_turn of a record: the last turn of an agent, and the turns
// in which texts were written that later saves keep. Turns are counted from 1 in each chain.
type AgentTurn struct {
	Number  int    // turns that have ended, 0 if unknown
	Agent   string // agent whose hook saved the checkpoint, "" for other saves; if Hand is set, another agent in a turn
	Request string // last request of a person to the agent, shortened, or ""
	Asked   int    // turn of the request, Number+1 if that turn has not ended
	Answer  string // end of the agent's last answer, or ""
	Hand    bool   // the checkpoint has changes of a person or of another agent before a turn, and is no turn

	Usage   []Spent  // tokens of the turn by model, without agent and phase
	UsageOf string   // identity of the turn within its agent's transcript, or ""
	Commits []string // commits that were made in this worktree during the turn, in hex
	Spent   []Spent  // tokens of all turns that have ended

	// Turns in which kept texts were written, by their key in the record ("progress": in which the
	// progress moved), and in which running tasks were started, by task. Those of the first turn
	// are missing.
	Written map[string]int
	Started map[string]int
}

// Open returns the number of the turn in progress.
func (t AgentTurn) Open() int { return t.Number + 1 }

const agentTurn = "agent_turn"

// AgentTurn returns the section agent_turn, the zero value if it is missing.
func (r *Record) AgentTurn() AgentTurn {
	m := r.doc.Sub(agentTurn)
	hand, _ := m.Get("hand")
	var commits []string
	for _, text := range m.Texts("commits") {
		if hex := HashOf(text); hex != "" {
			commits = append(commits, hex)
		}
	}
	return AgentTurn{
		Number: number(m, "number"), Agent: m.Text("agent"),
		Request: m.Text("request"), Asked: number(m, "asked"), Answer: m.Text("answer"),
		Usage: spentOf(m, "usage"), UsageOf: m.Text("usage_of"), Commits: commits, Spent: spentOf(m, "spent"),
		Hand: hand == true, Written: numbers(m, "written"), Started: numbers(m, "started"),
	}
}

// SetAgentTurn replaces the section agent_turn. A zero value deletes it.
func (r *Record) SetAgentTurn(t AgentTurn) {
	m := NewMap()
	setNumber(m, "number", t.Number)
	m.SetText("agent", t.Agent)
	m.SetText("request", t.Request)
	setNumber(m, "asked", t.Asked)
	m.SetText("answer", t.Answer)
	if t.Hand {
		m.Set("hand", true)
	}
	setSpent(m, "usage", t.Usage)
	m.SetText("usage_of", t.UsageOf)
	if len(t.Commits) > 0 {
		texts := make([]string, len(t.Commits))
		for k, hex := range t.Commits {
			texts[k] = HashText(hex)
		}
		m.Set("commits", texts)
	}
	setNumbers(m, "written", t.Written)
	setNumbers(m, "started", t.Started)
	setSpent(m, "spent", t.Spent)
	if m.Len() == 0 {
		r.doc.Delete(agentTurn)
		return
	}
	r.doc.Set(agentTurn, m)
}

// SetSpent replaces the tokens of all turns, without another change of the section.
func (r *Record) SetSpent(list []Spent) { setSpent(r.doc.MustSub(agentTurn), "spent", list) }

// number returns a number that is not negative, 0 for other values.
func number(m *Map, key string) int { return int(max(m.Int(key), 0)) }

// numbers returns a mapping of numbers, nil if it is missing.
func numbers(m *Map, key string) map[string]int {
	of, ok := m.Child(key)
	if !ok || of.Len() == 0 {
		return nil
	}
	out := map[string]int{}
	for key := range of.All() {
		out[key] = number(of, key)
	}
	return out
}

func setNumber[N int | int64](m *Map, key string, n N) {
	if n > 0 {
		m.Set(key, n)
	}
}

// setNumbers sets a mapping in the order of its keys.
func setNumbers(m *Map, key string, of map[string]int) {
	out := NewMap()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		setNumber(out, name, of[name])
	}
	if out.Len() > 0 {
		m.Set(key, out)
	}
}
