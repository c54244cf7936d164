package doctor

import (
	"fmt"
	"slices"
	"time"
)

// A Role is the purpose of a ref.
type Role int

// The roles of refs.
const (
	Chain    Role = iota // live or archived checkpoints of users
	Own                  // last chain written by this clone, at own/
	Note                 // last known remote value, or a record of a fetched chain
	Undo                 // safety snapshot
	Incoming             // temporary ref of a fetch
	Strange              // ref below the chain prefixes with an invalid name
)

// A Ref is a ref of this program.
type Ref struct {
	Name  string
	Role  Role
	Value string // object id, "" if invalid
	Issue string // for Chain and Own

	Problem string // description if the ref is broken, otherwise ""
	Good    string // last valid commit, "" if unknown

	Made    time.Time // creation time from the name of Undo and Incoming refs, or zero
	Taken   bool      // for Own: the chain lacks checkpoints written by this clone
	Lasting bool      // object is missing permanently, since HEAD is readable
}

// Lifetimes of refs with automatic deletion.
const (
	undoFor     = 14 * 24 * time.Hour
	incomingFor = 24 * time.Hour
)

// judgeRefs reports broken refs, each of which makes git gc fail.
func judgeRefs(f Facts) []Finding {
	var found []Finding
	var expired, killed []Ref
	for _, r := range f.Refs {
		switch {
		case r.Problem != "":
			found = append(found, r.broken())
		case r.Role == Strange:
			found = append(found, warning("%s: it is no issue's key, and left out everywhere", r.Name))
		case r.Taken:
			found = append(found, warning("refs/checkpoints/%s: other means took from it what this clone had saved", r.Issue).
				mended(Mend{Act: BringBack, Names: []string{r.Name}, To: r.Issue, Said: "brought back what other means took from refs/checkpoints/" + r.Issue}))
		case r.Role == Undo && !r.Made.IsZero() && f.Now.Sub(r.Made) > undoFor:
			expired = append(expired, r)
		case r.Role == Incoming && f.Now.Sub(r.Made) > incomingFor:
			killed = append(killed, r)
		}
	}
	return slices.Concat(found, gone(expired, "safety snapshot", "past its two weeks"), gone(killed, "ref", "that killed fetches left"))
}

// gone returns one finding for all expired refs, since thousands may exist.
func gone(refs []Ref, what, why string) []Finding {
	if len(refs) == 0 {
		return nil
	}
	m := Mend{Act: DeleteRefs}
	for _, r := range refs {
		m.Names, m.Values = append(m.Names, r.Name), append(m.Values, r.Value)
	}
	text := fmt.Sprintf("%s %s: %s", plural(len(refs), what), why, some(m.Names))
	m.Said = "removed " + text
	return []Finding{warning("%s", text).mended(m)}
}

// broken returns the finding for a broken ref. A chain is reset to its last valid commit
// if known. Otherwise the ref is set aside, but only if HEAD is readable, because a
// missing disk may return later.
func (r Ref) broken() Finding {
	f := failure("%s: %s", r.Name, r.Problem)
	mend := Mend{Names: []string{r.Name}, From: r.Value}
	switch {
	case r.Good != "" && (r.Role == Chain || r.Role == Own):
		mend.Act, mend.To, mend.Said = SetRef, r.Good, "put "+r.Name+" back to "+r.Good
	case !r.Lasting:
		return f
	default:
		mend.Act, mend.Said = SetAside, "set "+r.Name+" aside, which led nowhere"
	}
	return f.mended(mend)
}
