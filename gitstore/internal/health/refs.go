package health

import (
	"fmt"
	"slices"
	"time"
)

// A Role says what a ref is for.
type Role int

// The roles of refs.
const (
	Chain    Role = iota // live checkpoints, or the archive: it holds what people saved
	Own                  // the chain at own/
	Note                 // what a remote had, or that a chain was fetched
	Undo                 // a safety snapshot
	Incoming             // what a fetch brings, until it has its place
	Strange              // in the place of a chain, and not called like one
)

// A Ref is one below the program's names.
type Ref struct {
	Name  string
	Role  Role
	Value string // what it holds, "" where that is no object's name
	Issue string // of Chain and Own

	Problem string // why it leads nowhere, "" where it does not
	Good    string // where it last was sound, "" for unknown

	Made    time.Time // of Undo and Incoming, by its name, zero for unknown
	Taken   bool      // of Own: the chain does not have all that was written here
	Lasting bool      // what is not there is not only out of reach: HEAD can be read
}

// How long refs are kept that go by themselves.
const (
	undoFor     = 14 * 24 * time.Hour
	incomingFor = 24 * time.Hour
)

// judgeRefs looks for refs that lead nowhere: each of them keeps git gc from
// doing anything.
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

// gone is the finding of refs that may go, all together: there may be thousands.
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

// broken judges a ref that leads nowhere. A chain is put back where it last was
// sound, else it is only set aside, and only while the rest can be read: a disk
// may be missing that is going to be back.
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
