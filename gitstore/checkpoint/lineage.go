package checkpoint

import (
	"strings"
	"unicode"
)

// A Fork is the mapping fork in the section lineage of a record: the checkpoint with which the
// chain of a fork began. All records of the chain have this mapping. The zero value means that the
// issue is not a fork.
type Fork struct {
	Issue Issue  `record:"issue,keep"`         // issue of the source
	ID    ID     `record:"checkpoint_id,keep"` // checkpoint of the source
	Name  string `record:"name,keep"`          // name of the fork, such as "a"
}

const lineage = "lineage"

// Fork returns lineage.fork. It returns the zero value if the mapping is missing, or if it names no
// valid issue.
func (r *Record) Fork() (f Fork) {
	Load(r.doc.Sub(lineage).Sub("fork"), &f)
	if _, err := ParseIssue(string(f.Issue)); err != nil {
		return Fork{}
	}
	return f
}

// Repository returns the random id of the clone that began the chain, or "".
func (r *Record) Repository() string { return r.doc.Text("repository") }

// SetFork sets lineage.fork.
func (r *Record) SetFork(f Fork) {
	m := NewMap()
	Store(m, f)
	r.doc.MustSub(lineage).Set("fork", m)
}

// Adopted returns the checkpoint of a fork whose tokens the record has, of lineage.adopted, or "".
func (r *Record) Adopted(fork Issue) ID {
	for _, m := range r.doc.Sub(lineage).Maps("adopted") {
		if m.Text("issue") == string(fork) {
			return ID(m.Text("checkpoint_id"))
		}
	}
	return ""
}

// SetRestoredFrom sets restored_from: the checkpoints of which the worktree got files since the save
// before, without being after them.
func (r *Record) SetRestoredFrom(ids []ID) {
	Store(r.doc, struct {
		IDs []ID `record:"restored_from"`
	}{ids})
}

// AddTokensOf adds the tokens that a fork has spent since base to the sums, and notes its
// checkpoint in lineage.adopted.
func (r *Record) AddTokensOf(fork Issue, at ID, base, spent []Spent) {
	r.SetSpent(MergeSpent(base, spent, r.AgentTurn().Spent))
	section := r.doc.MustSub(lineage)
	var list []any
	for _, m := range section.Maps("adopted") {
		if m.Text("issue") != string(fork) {
			list = append(list, m)
		}
	}
	m := NewMap()
	m.Set("issue", string(fork))
	m.Set("checkpoint_id", at)
	section.Set("adopted", append(list, m))
}

// forkMark separates the key of an issue from the name of a fork.
const forkMark = "+"

// ForkOf returns the issue of a fork: 42+a for issue 42 and the name a.
func (i Issue) ForkOf(name string) Issue { return i + forkMark + Issue(name) }

// ForkSource splits the key of an issue that may be a fork, as 42+a, into the source and the name. The
// name is "" for other keys.
func (i Issue) ForkSource() (source Issue, name string) {
	at := strings.LastIndex(string(i), forkMark)
	if at < 0 || !IsForkName(string(i[at+1:])) {
		return "", ""
	}
	source, err := ParseIssue(string(i[:at]))
	if err != nil {
		return "", ""
	}
	return source, string(i[at+1:])
}

// Root returns the issue whose forks, and forks of these, have the issue: 42 for 42+a+b.
func (i Issue) Root() Issue {
	for {
		source, name := i.ForkSource()
		if name == "" {
			return i
		}
		i = source
	}
}

// IsForkName reports whether a fork can have a name: a word of letters, digits and marks that are
// permitted in a branch, except the mark between the key of the issue and the name.
func IsForkName(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forkMark+`/\~^:?*[{}@"<>|%`, r)
	})
}
