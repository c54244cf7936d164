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
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook/install"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"
)

// inspect adds the reports of the chains, and inspects the hooks and the related settings. It returns
// the report of the first issue with an error, or nil.
func inspect(c *invoke.Invocation, reports []*gitstore.Report, result *view.Doctor) (damaged *gitstore.Report, err error) {
	defer c.Store.CacheRefs(c.Ctx)()
	stale := time.Duration(c.Settings.Int("limits.stale_minutes")) * time.Minute
	var paces []string
	for _, r := range reports {
		addReport(&result.Verify, r)
		if damaged == nil && len(r.Errors) > 0 {
			damaged = r
		}
		paces = append(paces, paceTroubles(c, r.Issue, stale)...)
		if failed := work.LastFailedPush(c, r.Issue); failed.Text != "" {
			paces = append(paces, fmt.Sprintf("issue %s: %s", r.Issue, failed.Text))
		}
	}
	result.Warnings = slices.Concat(result.Warnings, paces, otherSystemsFiles(c))
	installed := install.Open(c)
	hooks, err := installed.Status()
	for _, h := range hooks {
		switch {
		case h.Way != "" && !h.Runs:
			result.Warnings = append(result.Warnings, fmt.Sprintf("hook %s: it is in %s, and does not run: %s", h.Event, h.Place, h.Why))
		case h.Way == "" && h.Event == "pre-push" && h.Setting != "off":
			result.Warnings = append(result.Warnings, fmt.Sprintf("hook %s: hooks.pre_push is %s, and no hook is installed: git checkpoint hooks install --push", h.Event, h.Setting))
		}
	}
	agents, agentsErr := installed.EveryAgent()
	for _, a := range agents {
		if a.Off != "" {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s runs no hook of %s: %s", a.Agent, a.Path, a.Off))
		}
	}
	return damaged, cmp.Or(err, agentsErr)
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

// Limits for the frequency of saves.
const (
	mostOfPhase = 20 // more checkpoints of one phase cost more than they save
	fewPhases   = 3  // completed phases before missing checkpoints are reported
)

// paceTroubles returns a message if an issue is saved too rarely or too often, or if its lead does
// not answer. An unfinished workflow without a save for longer than stale is one, unless stale is 0.
func paceTroubles(c *invoke.Invocation, issue checkpoint.Issue, stale time.Duration) (found []string) {
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil || len(l.Checkpoints) == 0 {
		return nil
	}
	r, err := c.Store.Record(&l.Checkpoints[0])
	if err != nil {
		return nil // reported already
	}
	sayf := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("issue %s: ", issue)+fmt.Sprintf(format, args...))
	}
	now := c.Env.Now()
	p := r.Progress()
	done := len(p.Completed) + len(p.Skipped)
	saved, heartbeat := r.CreatedAt(), pipeline.Heartbeat(r)
	switch {
	case stale <= 0:
	case !heartbeat.IsZero() && now.Sub(heartbeat) > stale:
		sayf("its lead may be dead: the last heartbeat was %s", view.Ago(heartbeat, now))
	case !progress.Over(r) && p.Total > 1 && done < p.Total && now.Sub(saved) > stale:
		sayf("not saved for %s, with %d of %d phases done", strings.TrimSuffix(view.Ago(saved, now), " ago"), done, p.Total)
	}
	// An imported document has phases from before the first checkpoint.
	if whole := r.Layout() == "" && l.Complete && !l.Cut; whole && done >= fewPhases && len(l.Checkpoints) < done {
		sayf("few checkpoints: %s for %d phases that are done; git checkpoint phase done saves after each", view.Plural(len(l.Checkpoints), "checkpoint"), done)
	}
	counts, most := map[string]int{}, ""
	for _, cp := range l.Checkpoints {
		if counts[cp.Phase]++; cp.Phase != "" && (most == "" || counts[cp.Phase] > counts[most]) {
			most = cp.Phase
		}
	}
	if n := counts[most]; most != "" && n > mostOfPhase {
		sayf("phase %s has %s; to save less often at intervals: git config checkpoint.min-interval 60", most, view.Plural(n, "checkpoint"))
	}
	return found
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
		dir, _, _ := strings.Cut(layout.Find(as).Folder, "/{issue}") // of all issues
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
