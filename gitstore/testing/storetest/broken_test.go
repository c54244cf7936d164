package storetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// A store with a flaw breaks only the promises about that flaw.
func TestBrokenStores(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	t.Parallel()
	for _, b := range []struct {
		what   string
		flaw   broken
		breaks []string
	}{
		{"it has no flaw", func() *flaw { return &flaw{} }, []string{}},
		{"it prunes what is pinned", prunesPinned, []string{
			"retention/what is pinned stays", "age/one pin keeps all",
		}},
		{"it prunes the tip", prunesTip, []string{
			"retention/the tip stays whatever the policy says", "retention/the newest that can be resumed stays",
		}},
		{"it prunes more than it told", prunesMore, []string{
			"retention/the newest so many stay", "retention/each phase counts by itself where it is told so",
			"retention/the newest that can be resumed stays", "retention/what is pinned stays",
			"retention/a trigger without a rule stays",
		}},
		{"it lists by time", listsByTime, []string{
			"list/the order is that of the saves when the time goes back", "list/clocks rise when the time goes back",
		}},
		{"it lists in disorder after a drop", disorders, []string{
			"crowd/pins and drops beside saves all hold", "crowd/a reader beside drops sees what is left in order",
			"drop/it is gone", "drop/the records above and below stay as they were",
			"drop/several together or not at all", "undo/a drop", "undo/a chain that was emptied",
			"undo/what was saved since stays", "undo/one after the other, the last first",
			"undo/when the time went back", "undo/what was undone can be dropped again",
			"purge/what is left is as it was", "purge/a whole issue",
		}},
		{"it loses the save of who comes second", losesSaves, []string{
			"crowd/every save is there once", "crowd/the saves of each stay in their order",
			"crowd/pins and drops beside saves all hold", "crowd/archivings beside saves lose nothing",
		}},
		{"it shows a save before what it stands on", showsEarly, []string{
			"crowd/every save is there once", "crowd/every save starts from the one right before it",
			"crowd/the saves of each stay in their order", "crowd/pins and drops beside saves all hold",
			"crowd/archivings beside saves lose nothing", "crowd/a reader sees a whole chain at any time",
		}},
		{"the id of one that was dropped comes again", repeatsIDs, []string{
			"ids/one that was dropped does not come again",
		}},
		{"it changes records when it drops", changesRecords, []string{
			"drop/the records above and below stay as they were", "drop/several together or not at all", "undo/a drop",
			"undo/a chain that was emptied", "undo/one after the other, the last first",
			"undo/when the time went back", "undo/a drop from the archive", "purge/what is left is as it was",
		}},
		{"it drops what it finds of several", dropsSome, []string{
			"drop/several together or not at all",
		}},
		{"it drops by a short name", dropsShort, []string{
			"drop/by a whole id alone",
		}},
		{"it takes any that fits a name", takesAny, []string{
			"find/an ambiguous name lists all candidates",
		}},
		{"it keeps what failed", keepsFailed, []string{
			"ids/one that is there is refused", "ids/one that was dropped is refused", "ids/what is no id is refused",
			"fail/the trigger is no word", "fail/a text is not UTF-8", "fail/a text has a NUL",
			"fail/a key is not UTF-8", "fail/a value is of a kind that no record has",
			"fail/a known key has a value of another kind", "fail/it is too deep to be read", "fail/the edit does",
			"fail/the first of an issue does", "fail/nobody waits for it any more", "fail/nothing is new",
		}},
		{"it pins for show", pinsForShow, []string{
			"crowd/pins and drops beside saves all hold", "pin/a list shows it", "pin/it can be taken off",
			"pin/once more changes nothing", "pin/it stays when more is saved", "pin/it stays when others are dropped",
			"pin/what is not there is not found", "pin/what was dropped is not found", "pin/an archived one, too",
			"retention/what is pinned stays", "retention/with a save", "archive/a pin goes with it",
			"age/one pin keeps all", "age/archived ones that are pinned stay",
		}},
		{"it loses a newline before a text", losesNewline, []string{
			"text/a newline before it", "text/newlines alone",
		}},
		{"it sorts keys", sortsKeys, []string{
			"record/unknown keys stay in their order",
		}},
		{"it reads any version", readsAny, []string{
			"version/a later one is refused by name",
		}},
		{"its errors are words", words, []string{
			"drop/several together or not at all", "drop/what is gone is not found",
			"drop/nothing is not found in an issue without checkpoints", "drop/by a whole id alone",
		}},
		{"its archive is in disorder", disordersArchive, []string{
			"crowd/archivings beside saves lose nothing", "archive/the whole chain when none is named",
			"archive/its order is that of the saves", "age/an old chain is archived as a whole",
			"age/a closed issue is archived as a whole",
		}},
		{"it takes back one of several", undoesOne, []string{
			"undo/a drop", "undo/a prune", "undo/a chain that was emptied",
			"undo/when the time went back", "undo/an archiving",
		}},
		{"it takes back what a save pruned", undoesSaves, []string{"undo/what a save pruned stays pruned"}},
		{"it remembers what was purged", func() *flaw { return &flaw{purge: true} }, []string{
			"purge/there is nothing to undo", "purge/an emptied archive is forgotten",
		}},
	} {
		t.Run(b.what, func(t *testing.T) {
			assert.Equal(t, b.breaks, failures(t, b.flaw.place))
		})
	}
}

func prunesPinned() *flaw {
	return &flaw{prune: func(f *flawed, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
		l, _ := f.memoryStore.List(background, req.Issue, 0)
		for _, c := range l.Checkpoints {
			_, _ = f.memoryStore.Pin(background, req.Issue, c.ID, false)
		}
		return f.memoryStore.Prune(background, req)
	}}
}

func prunesTip() *flaw {
	return &flaw{prune: func(f *flawed, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
		p, err := f.memoryStore.Prune(background, req)
		tip, none := f.memoryStore.Find(background, req.Issue, gitstore.Latest)
		if err != nil || none != nil || req.DryRun {
			return p, err
		}
		if rule, ok := req.Policy[tip.Trigger]; ok && rule.Keep == 0 {
			err = f.memoryStore.Drop(background, req.Issue, []checkpoint.ID{tip.ID})
		}
		return p, err
	}}
}

func prunesMore() *flaw {
	return &flaw{prune: func(f *flawed, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
		p, err := f.memoryStore.Prune(background, req)
		l, _ := f.memoryStore.List(background, req.Issue, 0)
		if err == nil && len(p.Removed) > 0 && !req.DryRun && len(l.Checkpoints) > 1 {
			err = f.memoryStore.Drop(background, req.Issue, []checkpoint.ID{l.Checkpoints[1].ID})
		}
		return p, err
	}}
}

func listsByTime() *flaw {
	return &flaw{list: func(_ *flawed, l *gitstore.List) {
		slices.SortStableFunc(l.Checkpoints, func(a, b gitstore.Checkpoint) int { return b.Created.Compare(a.Created) })
	}}
}

func disorders() *flaw {
	dropped := false
	return &flaw{
		drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
			dropped = true
			return f.memoryStore.Drop(background, i, ids)
		},
		list: func(_ *flawed, l *gitstore.List) {
			if dropped {
				slices.Reverse(l.Checkpoints)
			}
		},
	}
}

// losesSaves reports success to a writer although another writer was first and the save
// is lost.
func losesSaves() *flaw {
	return &flaw{save: func(f *flawed, ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
		req.DryRun = req.DryRun || f.second(req.Issue)
		return f.memoryStore.Save(ctx, req)
	}}
}

// showsEarly lists only the newest checkpoint to handles that have not saved it.
func showsEarly() *flaw {
	return &flaw{list: func(f *flawed, l *gitstore.List) {
		if f.second(l.Issue) {
			l.Checkpoints = l.Checkpoints[:min(1, len(l.Checkpoints))]
		}
	}}
}

// repeatsIDs derives ids from the number of existing checkpoints.
func repeatsIDs() *flaw {
	n := 0
	return &flaw{
		newID: func(phase string, at time.Time, _ []byte) checkpoint.ID {
			n++
			return checkpoint.NewID(phase, at, []byte{0, 0, 0, byte(n)})
		},
		drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
			n -= len(ids)
			return f.memoryStore.Drop(background, i, ids)
		},
	}
}

func changesRecords() *flaw {
	dropped := false
	return &flaw{
		drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
			dropped = true
			return f.memoryStore.Drop(background, i, ids)
		},
		raw: func(data []byte) []byte {
			if dropped {
				data = append(data, '\n')
			}
			return data
		},
	}
}

func dropsSome() *flaw {
	return &flaw{drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
		there := slices.DeleteFunc(slices.Clone(ids), func(id checkpoint.ID) bool {
			_, err := f.memoryStore.Find(background, i, string(id))
			return err != nil
		})
		if len(there) < len(ids) {
			_ = f.memoryStore.Drop(background, i, there)
		}
		return f.memoryStore.Drop(background, i, ids)
	}}
}

func dropsShort() *flaw {
	return &flaw{drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
		whole := slices.Clone(ids)
		for k, id := range ids {
			if c, err := f.memoryStore.Find(background, i, string(id)); err == nil {
				whole[k] = c.ID
			}
		}
		return f.memoryStore.Drop(background, i, whole)
	}}
}

func takesAny() *flaw {
	return &flaw{find: func(f *flawed, i checkpoint.Issue, err error) (*gitstore.Checkpoint, error) {
		var ambiguous *gitstore.AmbiguousError
		if errors.As(err, &ambiguous) {
			return f.memoryStore.Find(background, i, string(ambiguous.Candidates[0]))
		}
		return nil, err
	}}
}

// keepsFailed saves a record without the edit if the save with the edit fails.
func keepsFailed() *flaw {
	return &flaw{save: func(f *flawed, ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
		saved, err := f.memoryStore.Save(ctx, req)
		if err != nil {
			_, _ = f.memoryStore.Save(background, gitstore.SaveRequest{Issue: req.Issue, Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
				if r == nil {
					r = checkpoint.New()
				}
				return r, nil
			}})
		}
		return saved, err
	}}
}

func pinsForShow() *flaw {
	return &flaw{pin: func() (bool, error) { return true, nil }}
}

func losesNewline() *flaw {
	return &flaw{record: func(r *checkpoint.Record, err error) (*checkpoint.Record, error) {
		if err == nil {
			r.SetNote(strings.TrimPrefix(r.Note(), "\n"))
		}
		return r, err
	}}
}

func sortsKeys() *flaw {
	return &flaw{record: func(r *checkpoint.Record, err error) (*checkpoint.Record, error) {
		if err != nil {
			return r, err
		}
		sorted := checkpoint.NewMap()
		for _, key := range slices.Sorted(slices.Values(r.Doc().Keys())) {
			v, _ := r.Doc().Get(key)
			sorted.Set(key, v)
		}
		return checkpoint.FromDoc(sorted), nil
	}}
}

func readsAny() *flaw {
	return &flaw{record: func(r *checkpoint.Record, err error) (*checkpoint.Record, error) {
		if errors.As(err, new(*checkpoint.VersionError)) {
			return checkpoint.New(), nil
		}
		return r, err
	}}
}

// words returns errors with the original text but without the original type.
func words() *flaw {
	return &flaw{drop: func(f *flawed, i checkpoint.Issue, ids []checkpoint.ID) error {
		err := f.memoryStore.Drop(background, i, ids)
		if err != nil {
			err = errors.New(err.Error())
		}
		return err
	}}
}

func disordersArchive() *flaw {
	return &flaw{archive: func(l *gitstore.List) { slices.Reverse(l.Checkpoints) }}
}

// undoesSaves records the pruning of a save like a prune of its own.
func undoesSaves() *flaw {
	return &flaw{save: func(f *flawed, ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
		before := f.chain(req.Issue).live
		saved, err := f.memoryStore.Save(ctx, req)
		if err == nil && len(saved.Pruned) > 0 {
			c := f.chain(req.Issue)
			c.removals = append(c.removals, removal{"prune", only(before, saved.Pruned), nil, c.ledger.Clone()})
			f.put(req.Issue, c)
		}
		return saved, err
	}}
}

func undoesOne() *flaw {
	return &flaw{undo: func(f *flawed, i checkpoint.Issue) (*gitstore.Undone, error) {
		done, err := f.memoryStore.Undo(background, i)
		if err == nil && len(done.IDs) > 1 {
			err = f.memoryStore.Drop(background, i, done.IDs[1:])
		}
		return done, err
	}}
}
