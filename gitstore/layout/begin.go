package layout

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// crunchPhases lists the phases of the crunch system in order.
var crunchPhases = []string{"enrich", "ready", "implementing", "validation", "docs"}

// A Start is the input of Begin.
type Start struct{ Type, Project, PlanPath string }

// A Beginning holds the initial values of a workflow: fixed phases, workflow id, and the
// default issue key. A field is empty if the system has no such value.
type Beginning struct {
	Phases  []string
	ID, Key string
}

// Begin returns the initial values of a workflow in layout as. It fails if a value that
// the system requires is missing.
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

// PlanIDs returns the two possible workflow ids of a plan in the recovery system: the MD5
// digest of the path with the newline of echo, and the digest without the newline.
func PlanIDs(plan string) []string {
	ids := make([]string, 2)
	for i, s := range []string{plan + "\n", plan} {
		sum := md5.Sum([]byte(s))
		ids[i] = hex.EncodeToString(sum[:])
	}
	return ids
}

// Enter adds the layout's own sections to a record with a new workflow: a story starts at
// stage 0.
func Enter(as Name, r *checkpoint.Record, story checkpoint.Issue) {
	if as == Pipeline {
		r.Doc().Set("stage", newObject("number", 0, "story", string(story), "last_action", "started"))
	}
}
