package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// live takes random steps, then lets all clones share, and compares them.
func (w *world) live(ctx context.Context, steps int) error {
	if err := w.save(ctx, w.actors[0]); err != nil {
		return err
	}
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := w.actors[w.rand.IntN(len(w.actors))]
		var err error
		switch w.rand.IntN(22) {
		case 0, 1, 2, 3, 4:
			err = w.edit(a)
		case 5, 6, 7:
			err = w.work(ctx, a)
		case 8, 9, 10:
			err = w.save(ctx, a)
		case 11, 12:
			err = w.restores(ctx, a, w.resumeLine(ctx, a))
		case 13, 14:
			err = w.restores(ctx, a, w.restoreLine(ctx, a))
		case 15:
			err = w.back(ctx, a)
		case 16:
			err = w.attempt(ctx, a)
		case 17, 18:
			err = w.killed(ctx, a)
		case 19, 20:
			err = w.commits(ctx, a)
		case 21:
			_, _, _, err = w.checkpoint(ctx, a, "sync", "--all", "--yes")
		}
		if err != nil {
			return err
		}
	}
	return w.share(ctx)
}

// share syncs all clones until none has something new, and compares them.
func (w *world) share(ctx context.Context) error {
	clones := []*actor{w.actors[0], w.actors[2], w.actors[3]}
	for range 2 {
		for _, a := range clones {
			if _, said, code, err := w.checkpoint(ctx, a, "sync", "--all", "--yes"); err != nil {
				return err
			} else if code != 0 {
				return fmt.Errorf("%s: sync: exit code %d: %s", a.name, code, said)
			}
		}
	}
	var want string
	for i, a := range clones {
		if _, said, code, err := w.checkpoint(ctx, a, "verify"); err != nil {
			return err
		} else if code != 0 {
			return fmt.Errorf("%s: verify: exit code %d: %s", a.name, code, said)
		}
		got, err := w.ask(ctx, a, "for-each-ref", "--format=%(refname) %(tree)", "refs/checkpoints/")
		if err != nil {
			return err
		}
		if i == 0 {
			want = got
		} else if got != want {
			return fmt.Errorf("%s has after the sync\n%s\nand %s has\n%s", a.name, got, clones[0].name, want)
		}
		w.acts++
	}
	return nil
}

// edit changes, makes, deletes or re-modes a file.
func (w *world) edit(a *actor) error {
	all := slices.Concat(tracked, others)
	path := all[w.rand.IntN(len(all))]
	name := filepath.Join(a.dir, filepath.FromSlash(path))
	old, err := os.ReadFile(name)
	switch kind := w.rand.IntN(10); {
	case kind == 0 && err == nil:
		w.note(a, "delete "+path, nil)
		return os.Remove(name)
	case kind == 1 && err == nil:
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		w.note(a, "chmod "+path, nil)
		return os.Chmod(name, info.Mode().Perm()^0o100)
	}
	w.note(a, "edit "+path, nil)
	return w.write(a, path, w.content(path, string(old)))
}

// work is what a person does with git. A command that git refuses is no fault.
func (w *world) work(ctx context.Context, a *actor) error {
	all := slices.Concat(tracked, others[:3])
	lines := [][][]string{
		{{"add", "--", all[w.rand.IntN(len(all))]}},
		{{"add", "--all"}},
		{{"add", "--all"}, {"commit", "--quiet", "-m", "work"}},
		{{"commit", "--quiet", "-a", "-m", "work"}},
		{{"commit", "--quiet", "-a", "--amend", "-m", "amended"}},
		{{"reset", "--quiet", "--hard"}},
		{{"reset", "--quiet", "--hard", "HEAD~1"}},
		{{"reset", "--quiet", "--soft", "HEAD~1"}},
		{{"stash", "--quiet"}},
		{{"stash", "pop", "--quiet"}},
		{{"fetch", "--quiet"}, {"rebase", "--quiet", "origin/main"}},
		{{"fetch", "--quiet"}, {"merge", "--quiet", "--no-edit", "origin/main"}},
		{{"push", "--quiet", "origin", "HEAD:main"}},
		{{"clean", "-fdq"}},
	}
	for _, line := range lines[w.rand.IntN(len(lines))] {
		if err := w.git(ctx, a, line...); err == nil {
			continue
		}
		// Leave no half of a merge, rebase or stash.
		switch line[0] {
		case "merge", "rebase":
			_ = w.git(ctx, a, line[0], "--abort")
		case "stash":
			_ = w.git(ctx, a, "reset", "--quiet", "--hard")
		}
		break
	}
	return ctx.Err()
}

// commits edits and commits, sometimes with a save between, and resumes.
func (w *world) commits(ctx context.Context, a *actor) error {
	for range 1 + w.rand.IntN(3) {
		if err := w.edit(a); err != nil {
			return err
		}
	}
	if w.rand.IntN(3) == 0 {
		if err := w.save(ctx, a); err != nil {
			return err
		}
		if err := w.edit(a); err != nil {
			return err
		}
	}
	if err := w.git(ctx, a, "commit", "--quiet", "-a", "-m", "work"); err != nil {
		return ctx.Err() // nothing to commit
	}
	if w.rand.IntN(2) == 0 {
		if err := w.edit(a); err != nil {
			return err
		}
	}
	return w.restores(ctx, a, w.resumeLine(ctx, a))
}

// save saves, and compares the worktree with before.
func (w *world) save(ctx context.Context, a *actor) error {
	line := []string{"save", issue}
	if w.rand.IntN(4) == 0 {
		line = append(line, "--staged")
	}
	before, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	_, said, code, err := w.checkpoint(ctx, a, line...)
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("save: exit code %d: %s", code, said)
	}
	return w.same(ctx, a, before, "a save")
}

// same fails if the worktree of an actor is not as before.
func (w *world) same(ctx context.Context, a *actor, before look, after string) error {
	now, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	w.acts++
	if is := before.differs(now, false); is != "" {
		return fmt.Errorf("after %s: %s", after, is)
	}
	return nil
}

// ids returns the checkpoints of the issue that an actor has, newest first.
func (w *world) ids(ctx context.Context, a *actor) []string {
	out, _ := w.ask(ctx, a, "log", "--first-parent", "--format=%(trailers:key=Checkpoint-Id,valueonly)", "refs/checkpoints/"+issue)
	return strings.Fields(out)
}

func (w *world) resumeLine(ctx context.Context, a *actor) []string {
	branch, _ := w.ask(ctx, a, "rev-parse", "--abbrev-ref", "HEAD")
	line := []string{"resume", issue, "--yes", "--branch", branch, "--offline"}
	return append(line, w.choice()...)
}

func (w *world) restoreLine(ctx context.Context, a *actor) []string {
	line := []string{"restore", issue}
	if ids := w.ids(ctx, a); len(ids) > 0 {
		line = append(line, ids[w.rand.IntN(len(ids))])
	}
	line = append(line, w.choice()...)
	if w.rand.IntN(5) == 0 {
		line = append(line, "--", tracked[w.rand.IntN(len(tracked))])
	} else if w.rand.IntN(4) == 0 {
		line = append(line, "--force")
	}
	return line
}

func (w *world) choice() []string {
	choices := [][]string{nil, nil, nil, {"--changed", "mine"}, {"--changed", "checkpoint"}, {"--changed", "merge"}}
	return choices[w.rand.IntN(len(choices))]
}

// An outcome has the files of a resume or restore, as --json prints them.
type outcome struct {
	ID       string   `json:"checkpoint_id"`
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"`
	Undo     *string  `json:"undo"`
}

// restores runs a resume or restore: a dry run, the act, its undo and redo.
func (w *world) restores(ctx context.Context, a *actor, line []string) error {
	dry, err := w.restored(ctx, a, line, "--dry-run")
	if err != nil {
		return err
	}
	before, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	entries, err := w.entries(ctx, a)
	if err != nil {
		return err
	}
	kept, err := w.committed(ctx, a)
	if err != nil {
		return err
	}
	act, err := w.restored(ctx, a, line)
	if err != nil {
		return err
	}
	after, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	written, removed := before.paths(after)
	for _, path := range written {
		if !slices.Contains(dry.Restored, path) {
			return fmt.Errorf("the dry run did not name %s, which the act wrote", path)
		}
	}
	if !slices.Equal(removed, dry.Removed) && len(removed)+len(dry.Removed) > 0 {
		return fmt.Errorf("the dry run named the removal of %q, and the act removed %q", dry.Removed, removed)
	}
	if !slices.Equal(act.Restored, dry.Restored) {
		return fmt.Errorf("the dry run named %q, and the act %q", dry.Restored, act.Restored)
	}
	w.acts++
	if line[0] == "resume" && !slices.Contains(line, "checkpoint") {
		w.acts += len(kept)
		for path, lines := range kept {
			for _, text := range lines {
				if !strings.Contains(after.files[path], text) {
					return fmt.Errorf("the resume reverted %q of %s, which was committed after the checkpoint", text, path)
				}
			}
		}
	}
	now, err := w.entries(ctx, a)
	if err != nil {
		return err
	}
	if now == entries {
		if is := before.differs(after, false); is != "" {
			return fmt.Errorf("%s made no entry, and %s", line[0], is)
		}
		return nil
	}
	return w.undone(ctx, a, before, after, false)
}

// restored runs a resume or restore with --json.
func (w *world) restored(ctx context.Context, a *actor, line []string, more ...string) (outcome, error) {
	line = append([]string{line[0], "--json"}, append(more, line[1:]...)...)
	var t outcome
	out, said, code, err := w.checkpoint(ctx, a, line...)
	if err != nil {
		return t, err
	}
	if out == "" {
		return t, nil
	}
	if err := json.Unmarshal([]byte(out), &t); err != nil {
		return t, fmt.Errorf("%s: exit code %d: %w: %s %s", line[0], code, err, out, said)
	}
	slices.Sort(t.Restored)
	slices.Sort(t.Removed)
	return t, nil
}

// entries returns the operations of this clone.
func (w *world) entries(ctx context.Context, a *actor) (string, error) {
	return w.ask(ctx, a, "for-each-ref", "--format=%(refname)", "refs/git-checkpoint/operations/")
}

// undone runs undo and redo, sometimes undo again, and compares the worktree each time.
func (w *world) undone(ctx context.Context, a *actor, before, after look, chains bool) error {
	for _, step := range []struct {
		command string
		want    look
	}{{"undo", before}, {"redo", after}, {"undo", before}} {
		if _, said, code, err := w.checkpoint(ctx, a, step.command, "--yes"); err != nil {
			return err
		} else if code != 0 {
			return fmt.Errorf("%s: exit code %d: %s", step.command, code, said)
		}
		now, err := w.look(ctx, a)
		if err != nil {
			return err
		}
		w.acts++
		// A redo of what was published saves a new id.
		if is := step.want.differs(now, chains && step.command == "undo"); is != "" {
			return fmt.Errorf("after %s: %s", step.command, is)
		}
		if step.command == "redo" && w.rand.IntN(2) == 0 {
			break
		}
	}
	return nil
}

// committed returns, for each file that is as in HEAD, the lines that commits brought after
// the newest checkpoint, and that no checkpoint has.
func (w *world) committed(ctx context.Context, a *actor) (map[string][]string, error) {
	lines := map[string][]string{}
	saved, err := w.ask(ctx, a, "rev-parse", "--quiet", "--verify", "refs/checkpoints/"+issue+"^2^1")
	if err != nil {
		return lines, ctx.Err()
	}
	dirty, err := w.ask(ctx, a, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return nil, err
	}
	for _, path := range tracked[:4] { // without filters, so that lines compare
		if strings.Contains(dirty, path) {
			continue
		}
		added, err := w.ask(ctx, a, "log", "--format=", "-p", "--unified=0", saved+"..HEAD", "--", path)
		if err != nil {
			continue // the checkpoint's HEAD is not here
		}
		text, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(path)))
		if err != nil {
			continue
		}
		for line := range strings.Lines(added) {
			line = strings.TrimSuffix(strings.TrimPrefix(line, "+"), "\n")
			if !strings.HasPrefix(line, "edge ") || !strings.Contains(string(text), line+"\n") {
				continue
			}
			known, err := w.ask(ctx, a, "log", "-m", "--format=%H", "-S", line+"\n", "--all", "--glob=refs/checkpoints/*", "--not", "HEAD", "--", path, "state/"+path)
			if err == nil && known == "" {
				lines[path] = append(lines[path], line+"\n")
			}
		}
	}
	return lines, nil
}

// back runs undo or redo of an earlier operation. Afterwards the opposite has to give
// back the files.
func (w *world) back(ctx context.Context, a *actor) error {
	before, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	command, opposite := "undo", "redo"
	if w.rand.IntN(3) == 0 {
		command, opposite = opposite, command
	}
	_, _, code, err := w.checkpoint(ctx, a, command, "--yes")
	if err != nil {
		return err
	}
	if code != 0 {
		now, err := w.look(ctx, a)
		if err != nil {
			return err
		}
		if is := before.differs(now, false); is != "" && code == 2 {
			return fmt.Errorf("%s was refused, and %s", command, is)
		}
		return nil
	}
	if _, said, code, err := w.checkpoint(ctx, a, opposite, "--yes"); err != nil {
		return err
	} else if code != 0 {
		return fmt.Errorf("%s after %s: exit code %d: %s", opposite, command, code, said)
	}
	return w.same(ctx, a, before, command+" and "+opposite)
}

// attempt forks the issue, works on the fork, and adopts it.
func (w *world) attempt(ctx context.Context, a *actor) error {
	a.forks++
	name := fmt.Sprintf("%s%d", a.name, a.forks)
	fork := issue + "+" + name
	branch, err := w.ask(ctx, a, "rev-parse", "--abbrev-ref", "HEAD")
	if err != nil {
		return err
	}
	for _, line := range [][]string{
		{"save", issue}, {"fork", issue, name}, {"resume", fork, "--yes", "--branch", branch, "--offline"},
	} {
		if _, said, code, err := w.checkpoint(ctx, a, line...); err != nil {
			return err
		} else if code != 0 {
			return fmt.Errorf("%s: exit code %d: %s", line[0], code, said)
		}
	}
	for range 1 + w.rand.IntN(3) {
		if err := w.edit(a); err != nil {
			return err
		}
	}
	for _, line := range [][]string{{"save", fork}, {"resume", issue, "--yes", "--branch", branch, "--offline"}} {
		if _, said, code, err := w.checkpoint(ctx, a, line...); err != nil {
			return err
		} else if line[0] == "save" && code != 0 {
			return fmt.Errorf("%s: exit code %d: %s", line[0], code, said)
		}
	}
	before, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	if _, _, _, err := w.checkpoint(ctx, a, "adopt", fork); err != nil {
		return err
	}
	after, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	w.acts++
	if before.differs(after, true) == "" || before.chains == after.chains {
		return nil // refused, or a conflict
	}
	if err := w.undone(ctx, a, before, after, true); err != nil {
		return err
	}
	return nil
}

// killed kills a save, resume or restore, and recovers.
func (w *world) killed(ctx context.Context, a *actor) error {
	before, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	entries, err := w.entries(ctx, a)
	if err != nil {
		return err
	}
	line := w.restoreLine(ctx, a)
	switch w.rand.IntN(3) {
	case 0:
		line = []string{"save", issue}
	case 1:
		line = w.resumeLine(ctx, a)
	}
	cmd := w.command(ctx, a, w.program, line...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	after := time.Duration(w.rand.IntN(120)) * time.Millisecond
	time.Sleep(after)
	victim := cmd.Process.Pid
	if w.rand.IntN(2) == 0 {
		victim = -victim
	}
	_ = syscall.Kill(victim, syscall.SIGKILL)
	err = cmd.Wait()
	w.note(a, fmt.Sprintf("git-checkpoint %s, killed after %v", strings.Join(line, " "), after), err)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	time.Sleep(50 * time.Millisecond) // git processes that were not killed end
	if line[0] == "save" {
		return w.same(ctx, a, before, "a killed save")
	}
	if _, _, _, err := w.checkpoint(ctx, a, "restore", "--abort"); err != nil {
		return err
	}
	now, err := w.look(ctx, a)
	if err != nil {
		return err
	}
	if before.differs(now, false) == "" {
		w.acts++
		return nil
	}
	if got, err := w.entries(ctx, a); err != nil {
		return err
	} else if got == entries {
		return fmt.Errorf("a killed %s left no entry, and %s", line[0], before.differs(now, false))
	}
	if _, said, code, err := w.checkpoint(ctx, a, "undo", "--yes"); err != nil {
		return err
	} else if code != 0 {
		return fmt.Errorf("undo after a killed %s: exit code %d: %s", line[0], code, said)
	}
	return w.same(ctx, a, before, "the undo of a killed "+line[0])
}
