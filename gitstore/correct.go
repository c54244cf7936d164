package gitstore

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
)

// A ruleCheck finds the values of a record that a resume refuses.
type ruleCheck struct {
	problems []checkpoint.Problem
	cycle    error // the tasks depend on each other
}

// storeKeys are the keys of a record that the store sets, from checked values.
var storeKeys = []string{"checkpoint_id", "version", "created_at", "trigger", "issue_number", "files_modified", "clock", "snapshot"}

func checkRules(r *checkpoint.Record) ruleCheck {
	problems := slices.DeleteFunc(r.Validate(), func(p checkpoint.Problem) bool {
		key, _, _ := strings.Cut(p.Path, ".")
		key, _, _ = strings.Cut(key, "[")
		return p.Warning || slices.Contains(storeKeys, key)
	})
	return ruleCheck{problems, chain.Unordered(r)}
}

// correct makes the record valid, so that a resume accepts it. Invalid values of the record
// before are dropped. Other invalid values come from the caller. They are an error,
// unless the request has DropInvalid. A cycle of tasks of the record before stays, because
// only a person can decide which task begins. The result describes what was dropped.
func (w *saveOp) correct(current *chain.Chain, r *checkpoint.Record) ([]string, error) {
	found := checkRules(r)
	if len(found.problems) == 0 && found.cycle == nil {
		return nil, nil
	}
	var before ruleCheck
	base, _ := w.store.recordBefore(current)
	if base != nil {
		before = checkRules(base)
	}
	inherited := func(p checkpoint.Problem) bool {
		return slices.ContainsFunc(before.problems, func(q checkpoint.Problem) bool { return p.Kind == q.Kind })
	}
	own := slices.DeleteFunc(slices.Clone(found.problems), inherited)
	ownCycle := found.cycle != nil && before.cycle == nil
	if !w.req.DropInvalid && (len(own) > 0 || ownCycle) {
		return nil, invalidRecord(own, found.cycle)
	}
	d := dropping{r: r, base: base}
	switch {
	case ownCycle:
		d.restore("tasks", "execution_graph")
		d.tell("tasks and execution_graph are left out: %v", found.cycle)
	case found.cycle != nil:
		d.tell("%v; resume would refuse such a record: git checkpoint task list --issue %s", found.cycle, w.req.Issue)
	}
	for _, p := range own {
		if !strings.Contains(p.Path, "[") && d.restore(p.Path) {
			d.tell("%s; left out", p)
		}
	}
	return d.told, d.all()
}

// A dropping removes invalid values from a record.
type dropping struct {
	r, base *checkpoint.Record // base can be nil
	told    []string
}

// maxTold limits the messages, because a record can have a million invalid values.
const maxTold = 5

func (d *dropping) tell(format string, args ...any) {
	switch len(d.told) {
	case maxTold:
		d.told = append(d.told, "more invalid values are left out: git checkpoint diff shows all")
	case maxTold + 1:
	default:
		d.told = append(d.told, fmt.Sprintf(format, args...))
	}
}

// restore sets values as in the base record, and deletes those that the base does not
// have. It reports whether it could set all values.
func (d *dropping) restore(paths ...string) bool {
	for _, path := range paths {
		var v any
		if d.base != nil {
			v, _ = d.base.Doc().Lookup(path)
		}
		if d.r.Doc().Assign(path, v) != nil {
			return false
		}
	}
	return true
}

// maxPasses limits the repetitions: a removed value can make the mapping around it invalid.
const maxPasses = 20

// all deletes the remaining invalid values. Elements of lists are deleted from the end, so
// that the paths of the others stay valid.
func (d *dropping) all() error {
	for range maxPasses {
		found := checkRules(d.r).problems
		if len(found) == 0 {
			return nil
		}
		for _, p := range found {
			d.tell("%s; left out", p)
		}
		for _, p := range slices.Backward(found) {
			if err := d.r.Doc().Assign(p.Path, nil); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the record stays invalid: %s", checkRules(d.r).problems[0])
}

// invalidRecord returns the error of a new record that a resume would refuse, with an optional
// cycle of tasks.
func invalidRecord(problems []checkpoint.Problem, cycle error) error {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	if cycle != nil {
		lines = append(lines, cycle.Error())
	}
	const most = 5
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", n))
	}
	return failure.New(failure.Usage, "fix the value, then run the command again", strings.Join(lines, "\n"))
}
