package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/githooks"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/pipeline"
)

// inspectAll inspects every chain, the hooks and the related settings.
func inspectAll(c *invoke.Invocation, result *view.Doctor) error {
	if !namesIssue(c) {
		defer c.Store.CacheRefs(c.Ctx)()
	}
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	c.Store.Doctor.SetPhases(c.Settings.Strings("phases"))
	run := c.Store.Doctor.Verification(false)
	for _, i := range issues {
		report, err := run.Verify(c.Ctx, i)
		if err != nil {
			return err
		}
		result.Errors = append(result.Errors, report.Errors...)
		result.Warnings = append(result.Warnings, report.Warnings...)
		result.Checked += report.Checked
	}
	checkPace(c, issues, result)
	result.Warnings = append(result.Warnings, unfinishedWrites(c)...)
	result.Warnings = append(result.Warnings, otherVersions(c)...)
	hooks, err := githooks.Find(c, githooks.Repo(c))
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if text := hookTrouble(h); text != "" {
			result.Warnings = append(result.Warnings, text)
		}
	}
	return nil
}

// hookTrouble returns a hook's problem, or "" if there is no problem.
func hookTrouble(h view.Hook) string {
	wanted := h.Event == "pre-push" && h.Setting != "off"
	switch {
	case h.Way != "" && !h.Runs:
		return fmt.Sprintf("hook %s: it is in %s, and does not run: %s", h.Event, h.Place, h.Why)
	case h.Way == "" && wanted:
		return fmt.Sprintf("hook %s: hooks.pre_push is %s, and no hook is installed: git checkpoint hooks install --push", h.Event, h.Setting)
	}
	return ""
}

// otherVersions compares the git-checkpoint on PATH with the programs for one object format. It
// returns a message for each program of another version. An upgrade can replace only one program.
func otherVersions(c *invoke.Invocation) []string {
	path, err := exec.LookPath("git-checkpoint")
	if err != nil {
		return nil
	}
	others := invoke.BesidePrograms(path)
	if len(others) == 0 {
		return nil
	}
	var found []string
	own := programVersion(c, path)
	for _, other := range others {
		if v := programVersion(c, other); v != own {
			found = append(found, fmt.Sprintf("%s is another version than %s: %s, and not %s: install both again",
				other, path, cmp.Or(v, "unknown"), cmp.Or(own, "unknown")))
		}
	}
	return found
}

// versionTime limits the time of a program that prints its version.
const versionTime = 5 * time.Second

// programVersion returns the version line of an installed git-checkpoint, or "" if the program
// does not run.
func programVersion(c *invoke.Invocation, path string) string {
	ctx, cancel := context.WithTimeout(c.Ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second // a child of a script can keep the output open
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return view.Clean(strings.TrimPrefix(strings.TrimSpace(string(out)), "git-checkpoint "))
}

// checkPace warns about issues with too few or too many saves.
func checkPace(c *invoke.Invocation, issues []checkpoint.Issue, result *view.Doctor) {
	var paces []gitstore.Pace
	for _, i := range issues {
		if p, ok := paceOf(c, i); ok {
			paces = append(paces, p)
		}
	}
	stale := time.Duration(c.Settings.Int("limits.stale_minutes")) * time.Minute
	for _, f := range gitstore.JudgePace(c.Env.Now(), stale, paces) {
		result.Warnings = append(result.Warnings, f.Text)
	}
}

// paceOf returns the figures of an issue that gitstore.JudgePace needs. It returns false if
// the issue has no checkpoint or its newest record cannot be read; other checks report
// unreadable records.
func paceOf(c *invoke.Invocation, issue checkpoint.Issue) (gitstore.Pace, bool) {
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil || len(l.Checkpoints) == 0 {
		return gitstore.Pace{}, false
	}
	r, err := c.Store.Record(&l.Checkpoints[0])
	if err != nil {
		return gitstore.Pace{}, false
	}
	done := r.Progress()
	p := gitstore.Pace{
		Issue: string(issue), Over: progress.Over(r), Whole: r.Layout() == "" && l.Complete && !l.Cut,
		Phases: done.Total, Done: len(done.Completed) + len(done.Skipped),
		Checkpoints: len(l.Checkpoints), Newest: r.CreatedAt(), Heartbeat: pipeline.Heartbeat(r),
	}
	counts := map[string]int{}
	for _, cp := range l.Checkpoints {
		if counts[cp.Phase]++; cp.Phase != "" && counts[cp.Phase] > p.Count {
			p.Most, p.Count = cp.Phase, counts[cp.Phase]
		}
	}
	return p, true
}

// Other systems write a temporary file and rename it. A remaining temporary file comes
// from an unfinished write.
const (
	writeTime   = time.Hour // older temporary files have no active writer
	maxWritings = 20_000    // limit of directory entries
)

// unfinishedWrites returns a message for each temporary file that other systems left in
// their checkpoint folders.
func unfinishedWrites(c *invoke.Invocation) []string {
	if c.Store.Root() == "" {
		return nil
	}
	var found []string
	looked := 0
	for _, as := range layout.Names() {
		dir := layout.Folder(as, "x")
		if as == crunch.Name {
			dir = strings.TrimSuffix(dir, "/x/checkpoints") // folder of all issues
		}
		_ = filepath.WalkDir(filepath.Join(c.Store.Root(), filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if looked++; looked > maxWritings {
				return fs.SkipAll
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(d.Name(), ".tmp") {
				return nil
			}
			if info, err := d.Info(); err == nil && c.Env.Now().Sub(info.ModTime()) > writeTime {
				found = append(found, fmt.Sprintf("%s: a write that was never finished, of %s: the file that it was for is older", invoke.Below(c.Store.Root(), path), as))
			}
			return nil
		})
	}
	return found
}
