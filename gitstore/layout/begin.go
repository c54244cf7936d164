package layout

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// crunchPhases are the phases of the crunch system, in their order.
var crunchPhases = []string{"enrich", "ready", "implementing", "validation", "docs"}

// A Start is what is said of a workflow that begins.
type Start struct{ Type, Project, PlanPath string }

// A Beginning is what a layout's system gives a workflow: its phases, where
// they are always the same, its id, and the issue it is kept under where
// nobody names one. Each is empty where the system has none.
type Beginning struct {
	Phases  []string
	ID, Key string
}

// Begin returns what a workflow of a layout begins with. It fails where the
// system demands what was not said.
func Begin(as Name, s Start) (Beginning, error) {
	switch as {
	case Crunch:
		return Beginning{Phases: slices.Clone(crunchPhases)}, nil
	case Claude:
		if s.Type == "" {
			return Beginning{}, errors.New("a claude workflow has a type: orchestrate, implement, test-all or another one")
		}
		if s.Project == "" {
			return Beginning{}, nil
		}
		return Beginning{Key: s.Type + "_" + snake(s.Project)}, nil
	case Recovery:
		if s.PlanPath == "" {
			return Beginning{}, nil
		}
		id := PlanIDs(s.PlanPath)[0]
		return Beginning{ID: id, Key: id}, nil
	case Dotagent:
		return Beginning{Phases: slices.Clone(dotagentPhases)}, nil
	case Pipeline:
		return Beginning{Phases: slices.Clone(pipelineStages)}, nil
	}
	return Beginning{}, nil
}

// PlanIDs returns the ids that the recovery system gives the workflow of a
// plan: the digest of its path with the newline that echo puts behind it, and
// the one without.
func PlanIDs(plan string) []string {
	ids := make([]string, 2)
	for i, s := range []string{plan + "\n", plan} {
		sum := md5.Sum([]byte(s))
		ids[i] = hex.EncodeToString(sum[:])
	}
	return ids
}

// Enter puts into the record of a workflow that begins what its layout keeps
// beside the phases: a story is at its first stage.
func Enter(as Name, r *checkpoint.Record, story checkpoint.Issue) {
	if as == Pipeline {
		r.Doc().Set("stage", newObject("number", 0, "story", string(story), "last_action", "started"))
	}
}
