package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	c.Store.Doctor.Phases = c.Settings.Strings("phases")
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
	result.Warnings = append(result.Warnings, otherSystemsFiles(c)...)
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

// programVersion returns the version line of an installed git-checkpoint, or "" if the program
// does not run.
func programVersion(c *invoke.Invocation, path string) string {
	ctx, cancel := context.WithTimeout(c.Ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second // a child of a script can keep the output open
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return view.Clean(strings.TrimPrefix(strings.TrimSpace(string(out)), "git-checkpoint "))
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

// otherSystemsFiles returns a message for each file in the checkpoint folders of other systems
// that a write left unfinished, that cannot be read, or that has another name than its system
// expects.
func otherSystemsFiles(c *invoke.Invocation) []string {
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
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if text := fileTrouble(c, as, path, d); text != "" {
				found = append(found, invoke.Below(c.Store.Root(), path)+": "+text)
			}
			return nil
		})
	}
	return found
}

// fileTrouble returns the problem of a file in a system's folder, or "". Files that are no
// document of the system have no problem.
func fileTrouble(c *invoke.Invocation, as layout.Name, path string, d fs.DirEntry) string {
	info, err := d.Info()
	switch {
	case err != nil:
		return ""
	case strings.HasSuffix(path, ".tmp") && c.Env.Now().Sub(info.ModTime()) > writeTime:
		return fmt.Sprintf("a write that was never finished, of %s: the file that it was for is older", as)
	case layout.Ignored(path) != "" || info.Size() > int64(checkpoint.DefaultLimits.Bytes):
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	f, err := layout.Read(as, path, data)
	if errors.As(err, new(*layout.UnknownDocumentError)) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("it cannot be read: %v", err)
	}
	for _, p := range f.Problems {
		if p.Rule == "name" {
			return p.Msg
		}
	}
	return ""
}
