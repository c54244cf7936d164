package checkpoint

import "slices"

// An AgentTurn is the section agent_turn of a record: the last turn of an agent, and the turns
// in which texts were written that later saves keep. Turns are counted from 1 in each chain.
type AgentTurn struct {
	Number  int    `record:"number"`  // turns that have ended, 0 if unknown
	Agent   string `record:"agent"`   // agent whose hook saved the checkpoint, "" for other saves; if Hand is set, another agent in a turn
	Request string `record:"request"` // last request of a person to the agent, shortened, or ""
	Asked   int    `record:"asked"`   // turn of the request, Number+1 if that turn has not ended
	Answer  string `record:"answer"`  // end of the agent's last answer, or ""
	Hand    bool   `record:"hand"`    // the checkpoint has changes of a person or of another agent before a turn, and is no turn

	Usage   []Spent  `record:"usage"`    // tokens of the turn by model, without agent and phase
	UsageOf string   `record:"usage_of"` // identity of the turn within its agent's transcript, or ""
	Commits []string `record:"commits"`  // commits that were made in this worktree during the turn, in hex
	Spent   []Spent  `record:"spent"`    // tokens of all turns that have ended

	// Turns in which kept texts were written, by their key in the record ("progress": in which the
	// progress moved), and in which running tasks were started, by task. Those of the first turn
	// are missing.
	Written map[string]int `record:"written"`
	Started map[string]int `record:"started"`
}

// Open returns the number of the turn in progress.
func (t AgentTurn) Open() int { return t.Number + 1 }

const agentTurn = "agent_turn"

// AgentTurn returns the section agent_turn, the zero value if it is missing.
func (r *Record) AgentTurn() (t AgentTurn) {
	Load(r.doc.Sub(agentTurn), &t)
	var commits []string
	for _, text := range t.Commits {
		if hex := HashOf(text); hex != "" {
			commits = append(commits, hex)
		}
	}
	t.Commits = commits
	return t
}

// SetAgentTurn replaces the section agent_turn. A zero value deletes it.
func (r *Record) SetAgentTurn(t AgentTurn) {
	t.Commits = slices.Clone(t.Commits)
	for k, hex := range t.Commits {
		t.Commits[k] = HashText(hex)
	}
	m := NewMap()
	if Store(m, t); m.Len() == 0 {
		r.doc.Delete(agentTurn)
		return
	}
	r.doc.Set(agentTurn, m)
}

// SetSpent replaces the tokens of all turns, without another change of the section.
func (r *Record) SetSpent(list []Spent) {
	Store(r.doc.MustSub(agentTurn), struct {
		Spent []Spent `record:"spent"`
	}{list})
}
