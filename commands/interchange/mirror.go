package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
)

// A mirroring synchronizes a layout's files at the root of the main worktree with the
// checkpoints, for agents that only read and write files. File changes are recorded
// before a command runs, and checkpoint changes are written to files afterwards. A file
// that cannot be recorded is reported and stays unchanged.
type mirroring struct {
	c     *invoke.Invocation
	as    layout.Name
	root  string
	state *mirror.State
	tree  *mirror.Tree
	told  map[string]bool // files with a warning already
}

// mirrorNote is the name of the note that stores the state.
const mirrorNote = "mirror"

// StartMirror records the changes of the mirrored files. Without a mirrored layout, or if
// the setting enabled is off, StartMirror returns at once. Errors become warnings.
func StartMirror(c *invoke.Invocation) invoke.MirrorKeeper {
	as := layout.Name(c.Settings.String("mirror"))
	if as == "off" || as == "" || !c.Settings.Bool("enabled") {
		return nil
	}
	m := &mirroring{c: c, as: as, told: map[string]bool{}}
	if err := m.open(); err != nil {
		c.Warnf("mirror: %v", err)
		return nil
	}
	if err := m.takeIn(); err != nil {
		c.Warnf("%v", err)
	}
	return m
}

// Close closes the folder of the files.
func (m *mirroring) Close() { m.tree.Close() }

func (m *mirroring) open() (err error) {
	if m.root, err = m.c.Store.MainRoot(m.c.Ctx); err != nil {
		return err
	}
	if m.root == "" {
		return errors.New("the repository has no main worktree")
	}
	for _, p := range m.patterns() {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Errorf("storage.location: %s is outside the worktree", view.QuotePath(p))
		}
	}
	m.tree, err = mirror.Open(m.root, int64(checkpoint.DefaultLimits.Bytes))
	return err
}

// patterns returns the folders of the layout's files, in the form that mirror.Tree reads.
func (m *mirroring) patterns() []string {
	folder := work.FolderPattern(m.c, m.as)
	if m.as == claude.Name {
		return []string{folder, folder + "/failed"}
	}
	return []string{folder}
}

// load reads the state. It reports whether no state existed.
func (m *mirroring) load() (fresh bool, err error) {
	m.state, fresh, err = mirror.Load(m.c.Store.Notes.Path(mirrorNote), string(m.as), m.root)
	return fresh, err
}

// locked reads the state again, calls f and stores the state, under a lock across the
// processes of the repository.
func (m *mirroring) locked(f func(fresh bool) error) error {
	release, err := m.c.Store.Notes.Lock(m.c.Ctx, mirrorNote)
	if err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	defer release()
	fresh, err := m.load()
	if err != nil {
		return err
	}
	err = f(fresh)
	data, encErr := json.Marshal(m.state)
	if encErr == nil {
		encErr = m.c.Store.Notes.Write(mirrorNote, data)
	}
	return errors.Join(err, encErr)
}

func (m *mirroring) changed() ([]mirror.ChangedFile, error) {
	var found []mirror.ChangedFile
	isNone := func(name string) bool { // no document: the index of crunch is generated from the documents
		return layout.Ignored(name) != "" || m.as == crunch.Name && path.Base(name) == "index.yaml"
	}
	for _, p := range m.patterns() {
		files, err := m.tree.Changed(m.state, p, isNone)
		if err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// left warns once that a file stays unchanged.
func (m *mirroring) left(name string, err error) {
	if !m.told[name] {
		m.told[name] = true
		if errors.As(err, new(*gitstore.TakenError)) {
			err = errors.New("it was changed, and checkpoints do not change; if it is removed, the next save writes it again")
		}
		m.c.Warnf("mirror: %s is left as it is: %v", view.QuotePath(name), err)
	}
}

// End writes the files of the issues whose chains have changed, as the store of c has them.
func (m *mirroring) End(c *invoke.Invocation) {
	m.c = c
	if m.state == nil || m.c.Ctx.Err() != nil {
		return
	}
	tips, err := m.c.Store.Tips(m.c.Ctx)
	if err != nil {
		m.c.Warnf("mirror: %v", err)
		return
	}
	if len(m.behind(tips)) == 0 {
		return
	}
	err = m.locked(func(bool) error {
		var failed error
		for _, i := range m.behind(tips) {
			if err := m.give(i, tips); err != nil {
				failed = errors.Join(failed, fmt.Errorf("mirror: issue %s: %w", i, err))
				continue
			}
			if m.state.Tips[string(i)] = tips[i]; tips[i] == "" {
				delete(m.state.Tips, string(i))
			}
		}
		return failed
	})
	if err != nil {
		m.c.Warnf("%v", err)
	}
}

// behind returns the issues whose files were generated from another tip.
func (m *mirroring) behind(tips map[checkpoint.Issue]string) []checkpoint.Issue {
	var moved []checkpoint.Issue
	for i, tip := range tips {
		if m.state.Tips[string(i)] != tip {
			moved = append(moved, i)
		}
	}
	for i := range m.state.Tips {
		if _, there := tips[checkpoint.Issue(i)]; !there {
			moved = append(moved, checkpoint.Issue(i))
		}
	}
	slices.Sort(moved)
	return moved
}
