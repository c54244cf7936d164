package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
)

// ours returns argv of a git-checkpoint command.
func (r *repo) ours(args ...string) []string { return append([]string{r.b.binary}, args...) }

// gits returns argv of a git command.
func (r *repo) gits(args ...string) []string { return append([]string{r.b.git}, args...) }

func (r *repo) dirty(ctx context.Context) error { return r.stage(ctx, 0) }

// saves returns a side that saves the staged files.
func (r *repo) saves(issue string, more ...string) side {
	args := append([]string{"save", issue, "--staged", "-m", "after batch 3"}, more...)
	return side{prepare: r.dirty, argv: r.ours(args...), check: printsID}
}

func printsID(out string) error { return matches(out, `^CP-[a-z0-9_]+-\d{8}T\d{6}Z-[0-9a-f]{8}\n$`) }

func printsHash(out string) error { return matches(out, `^[0-9a-f]{40,64}\n$`) }

func matches(out, pattern string) error {
	if !regexp.MustCompile(pattern).MatchString(out) {
		return fmt.Errorf("it printed %.200q, which is not %s", out, pattern)
	}
	return nil
}

// growing measures a pair whose first side saves. It checks that each run extends the
// issue's chain by the expected number of commits.
func (r *repo) growing(ctx context.Context, issue string, by int, ours, gits side) (result, error) {
	before, err := r.length(ctx, "refs/checkpoints/"+issue)
	if err != nil {
		return result{}, err
	}
	res, err := r.pair(ctx, r.b.runs, ours, gits)
	if err != nil {
		return result{}, err
	}
	after, err := r.length(ctx, "refs/checkpoints/"+issue)
	if want := before + by*(r.b.runs+r.b.warmups); err == nil && after != want {
		err = fmt.Errorf("the chain of %d commits has %d now, not %d", before, after, want)
	}
	return res, err
}

// length counts a chain's commits.
func (r *repo) length(ctx context.Context, ref string) (int, error) {
	out, err := r.git(ctx, "rev-list", "--first-parent", "--count", ref)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

func runSave(ctx context.Context, r *repo) (result, error) {
	gits, err := r.pipeline(ctx)
	if err != nil {
		return result{}, err
	}
	return r.growing(ctx, r.short, 1, r.saves(r.short), gits)
}

// runSaveDrop saves a fourth batch of a phase. Retention keeps three batches, so it drops
// the oldest, below the other two.
func runSaveDrop(ctx context.Context, r *repo) (result, error) {
	gits, err := r.pipeline(ctx)
	if err != nil {
		return result{}, err
	}
	return r.growing(ctx, r.thin, 0, r.saves(r.thin, "--trigger", "batch_complete", "--batch", "3"), gits)
}

func runSaveStash(ctx context.Context, r *repo) (result, error) {
	return r.growing(ctx, r.short, 1, r.saves(r.short),
		side{prepare: r.dirty, argv: r.gits("stash", "create"), check: printsHash})
}

// runSaveSame saves the same staged content again. Git has written the index's cached
// trees before, so they are valid.
func runSaveSame(ctx context.Context, r *repo) (result, error) {
	gits, err := r.threeCommands(ctx)
	if err != nil {
		return result{}, err
	}
	if _, err := r.git(ctx, "write-tree"); err != nil {
		return result{}, err
	}
	if _, err := r.checkpoint(ctx, "save", r.short, "--staged"); err != nil {
		return result{}, err
	}
	rest := func(context.Context) error { return nil }
	ours := r.saves(r.short)
	ours.prepare, gits.prepare = rest, rest
	return r.growing(ctx, r.short, 1, ours, gits)
}

func runSaveLong(ctx context.Context, r *repo) (result, error) {
	return r.growing(ctx, r.long, 1, r.saves(r.long), r.saves(r.short))
}

// runSaveWorktree saves the whole state, with ten unstaged files besides ten staged files.
func runSaveWorktree(ctx context.Context, r *repo) (result, error) {
	change := func(ctx context.Context) error { return r.stage(ctx, staged) }
	ours := side{prepare: change, argv: r.ours("save", r.short, "-m", "after batch 3"), check: printsID}
	res, err := r.growing(ctx, r.short, 1, ours,
		side{prepare: change, argv: []string{"sh", "-c", r.b.git + " ls-files --others --exclude-standard && " + r.b.git + " stash create"}, check: printsHash})
	if err != nil {
		return res, err
	}
	kept, err := r.git(ctx, "diff", "--name-only", "refs/checkpoints/"+r.short+":staged", "refs/checkpoints/"+r.short+":state")
	if n := lines(kept); err == nil && n != staged {
		err = fmt.Errorf("state/ has %d files that staged/ lacks, not %d", n, staged)
	}
	return res, err
}

func runMemory(ctx context.Context, r *repo) (result, error) {
	return r.peaks(ctx, r.dirty, r.saves(r.short).argv, r.gits("write-tree"))
}

// gitRef is the ref updated by the shell scripts.
const gitRef = "refs/bench/chain"

// script returns a side that runs a shell script and updates gitRef. Its record file is
// as large as a real record and lies beside the repository; the shell itself reads the
// parent.
func (r *repo) script(ctx context.Context, text string) (side, error) {
	record, err := r.git(ctx, "show", "refs/checkpoints/"+r.short+":checkpoint.yaml")
	if err != nil {
		return side{}, err
	}
	file := filepath.Join(r.b.work, "record.yaml")
	if err := writeText(file, record+"\n"); err != nil {
		return side{}, err
	}
	if _, err := r.git(ctx, "update-ref", gitRef, "HEAD"); err != nil {
		return side{}, err
	}
	return side{prepare: r.dirty, argv: []string{"sh", "-e", "-c", text, "sh", r.b.git, file}, check: r.moves(ctx)}, nil
}

// moves checks that a script printed the commit of gitRef.
func (r *repo) moves(ctx context.Context) func(string) error {
	return func(out string) error {
		tip, err := r.git(ctx, "rev-parse", gitRef)
		if err != nil {
			return err
		}
		if out != tip+"\n" {
			return fmt.Errorf("%s is at %s, not at %q", gitRef, tip, out)
		}
		return nil
	}
}

// pipeline returns a side that creates a similar checkpoint with six git processes in a
// shell.
func (r *repo) pipeline(ctx context.Context) (side, error) {
	return r.script(ctx, `read -r parent <.git/`+gitRef+`
staged=$("$1" write-tree)
record=$("$1" hash-object -w "$2")
meta=$("$1" mktree <<END
100644 blob $record	checkpoint.yaml
END
)
tree=$("$1" mktree <<END
040000 tree $meta	meta
040000 tree $staged	staged
END
)
commit=$("$1" commit-tree -p "$parent" -p HEAD -m "checkpoint 42: manual" "$tree")
"$1" update-ref `+gitRef+` "$commit" "$parent"
echo "$commit"`)
}

// threeCommands returns a side with the minimum of git commands for another commit of one
// tree.
func (r *repo) threeCommands(ctx context.Context) (side, error) {
	return r.script(ctx, `read -r parent <.git/`+gitRef+`
tree=$("$1" write-tree)
commit=$("$1" commit-tree -p "$parent" -m "checkpoint 42: manual" "$tree")
"$1" update-ref `+gitRef+` "$commit" "$parent"
echo "$commit"`)
}
