//go:build amd64

package commands

import (
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
)

// A faultRow is a writing command and its world.
type faultRow struct {
	name    string
	prepare func(w *faultWorld)
	args    []string
	form    map[refsForm]bool // nil for all forms

	damage   func(w *faultWorld) // damages the repository first
	begun    func(w *faultWorld) // runs the first part of a two-part command
	restores bool                // changes the worktree or the index
	undo     bool                // `undo` reverts the command
	thins    bool                // retention drops checkpoints, or keeps them if it cannot read enough data
}

// aboutID is the placeholder for the second newest checkpoint's id.
const aboutID = "<id>"

func (w *faultWorld) saves(n int, args ...string) {
	for range n {
		w.tool(append([]string{"save", "42"}, args...)...)
	}
}

// savedChange saves changes of several files and resets the worktree.
func savedChange(w *faultWorld) {
	w.write("src/c.txt", "saved\n")
	w.write("src/d.txt", "saved\n")
	w.git("add", "-A")
	w.git("rm", "-qf", "dir/b.txt")
	w.saves(1)
	w.git("reset", "-q", "--hard")
}

func savedThrice(w *faultWorld) { w.saves(3) }

// savedThere saves a checkpoint in another clone, on top of the repository's checkpoints.
func savedThere(w *faultWorld) {
	w.saves(1)
	w.tool("sync", "42", "--yes")
	w.git("clone", "-q", "../remote.git", "../other")
	for _, dir := range []string{"../other"} {
		w.tool("-C", dir, "sync", "42", "--yes")
		w.tool("-C", dir, "save", "42", "--set", "there=1")
		w.tool("-C", dir, "sync", "42", "--yes")
	}
}

// savedApart makes the chains of the repository and the remote diverge.
func savedApart(w *faultWorld) {
	savedThere(w)
	w.saves(1, "--set", "here=1")
}

func started(w *faultWorld) { w.tool("start", "42", "--phases", "3") }

var faultRows = []faultRow{
	{name: "save (first)", args: []string{"save", "42"}},
	{name: "save (first, staged)", args: []string{"save", "42", "--staged"}},
	{name: "save (later)", prepare: savedThrice, args: []string{"save", "42"}},
	{name: "save (retention)", thins: true, args: []string{"save", "42", "--trigger", "batch_complete"}, prepare: func(w *faultWorld) {
		w.saves(3, "--trigger", "batch_complete")
		w.saves(1)
	}},
	{name: "save --push (first)", args: []string{"save", "42", "--push"}},
	{name: "save --push (later)", args: []string{"save", "42", "--push"}, prepare: func(w *faultWorld) {
		w.tool("save", "42", "--push")
	}},
	{name: "run", prepare: savedThrice, args: []string{"run", "42", "--", "sh", "-c", "exit 7"}},
	{name: "prune", undo: true, args: []string{"prune", "42", "--keep", "manual=1"}, prepare: savedThrice},
	{name: "pin", args: []string{"pin", "42", aboutID}, prepare: savedThrice},
	{name: "drop", undo: true, args: []string{"drop", "42", aboutID, "--yes"}, prepare: savedThrice},
	{name: "drop --everything", undo: true, args: []string{"drop", "42", "--everything", "--yes"}, prepare: savedThrice},
	{name: "drop --purge", args: []string{"drop", "42", aboutID, "--purge", "--yes"}, prepare: savedThrice},
	{name: "archive", undo: true, args: []string{"archive", "42"}, prepare: savedThrice},
	{name: "archive (one)", undo: true, args: []string{"archive", "42", aboutID}, prepare: savedThrice},
	{name: "undo of drop", args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("drop", "42", "latest~1", "--yes")
	}},
	{name: "undo of drop --everything", args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("drop", "42", "--everything", "--yes")
	}},
	{name: "undo of prune", args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("prune", "42", "--keep", "manual=1")
	}},
	{name: "undo of archive", args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("archive", "42")
	}},
	{name: "undo of archive (one)", args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("archive", "42", "latest~1")
	}},
	{name: "undo of restore", restores: true, args: []string{"undo", "42"}, prepare: func(w *faultWorld) {
		savedChange(w)
		w.write("later.txt", "later\n")
		w.tool("restore", "42")
	}},
	{name: "redo of drop", args: []string{"redo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("drop", "42", "latest~1", "--yes")
		w.tool("undo", "42")
	}},
	{name: "redo of archive", args: []string{"redo", "42"}, prepare: func(w *faultWorld) {
		w.saves(3)
		w.tool("archive", "42")
		w.tool("undo", "42")
	}},
	{name: "redo of restore", restores: true, undo: true, args: []string{"redo", "42"}, prepare: func(w *faultWorld) {
		savedChange(w)
		w.write("later.txt", "later\n")
		w.tool("restore", "42")
		w.tool("undo", "42")
	}},
	{name: "restore", restores: true, undo: true, args: []string{"restore", "42"}, prepare: savedChange},
	{name: "resume", restores: true, undo: true, args: []string{"resume", "42", "--auto"}, prepare: savedChange},
	{name: "sync (joins)", args: []string{"sync", "42", "--yes"}, prepare: savedApart},
	{name: "sync (first)", args: []string{"sync", "42", "--yes"}, prepare: savedThrice},
	{name: "fetch", args: []string{"fetch", "42"}, prepare: savedThere},
	{name: "push", args: []string{"push", "42", "--yes"}, prepare: func(w *faultWorld) {
		w.saves(1)
		w.tool("push", "42", "--yes")
		w.saves(1)
	}},
	{name: "import", args: []string{"import", "../in"}, prepare: func(w *faultWorld) {
		w.git("clone", "-q", "../remote.git", "../other")
		w.tool("-C", "../other", "save", "42", "--set", "there=1")
		w.tool("-C", "../other", "save", "42", "--set", "there=2")
		w.tool("-C", "../other", "export", "42", "--as", "crunch", "--dir", w.path("../in"))
	}},
	{name: "export", args: []string{"export", "42", "--as", "crunch"}, prepare: savedThrice},
	{name: "mirror (save)", args: []string{"save", "42", "--set", "progress.current=3"}, prepare: func(w *faultWorld) {
		w.git("config", "checkpoint.mirror", "claude")
		w.tool("save", "42", "--set", "workflow.type=implement", "--set", "workflow.project=pay", "--set", "progress.current=2")
	}},
	{name: "start", args: []string{"start", "42", "--phases", "3"}},
	{name: "phase start", args: []string{"phase", "start", "1", "--issue", "42"}, prepare: started},
	{name: "phase done", args: []string{"phase", "done", "1", "--issue", "42"}, prepare: func(w *faultWorld) {
		started(w)
		w.tool("phase", "start", "1", "--issue", "42")
	}},
	{name: "task start", thins: true, args: []string{"task", "start", "T1", "--issue", "42"}, prepare: func(w *faultWorld) {
		w.tool("task", "add", "T1", "T2", "--issue", "42")
	}},
	{name: "task done", thins: true, args: []string{"task", "done", "T1", "--issue", "42"}, prepare: func(w *faultWorld) {
		w.tool("task", "add", "T1", "T2", "--issue", "42")
		w.tool("task", "start", "T1", "--issue", "42")
	}},
	{name: "finish", args: []string{"finish", "42"}, prepare: started, begun: func(w *faultWorld) {
		w.git("-c", "checkpoint.on-success=keep", "checkpoint", "finish", "42")
	}},
	{name: "hooks install", args: []string{"hooks", "install", "--push"}, prepare: func(w *faultWorld) {
		w.write(".git/hooks/pre-push", "#!/bin/sh\ntrue\n")
		require.NoError(w.t, os.Chmod(w.path(".git/hooks/pre-push"), 0o755))
	}},
	{name: "hooks install --agent", args: []string{"hooks", "install", "--agent", "claude"}, prepare: func(w *faultWorld) {
		w.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
	}},
	{name: "hooks uninstall", args: []string{"hooks", "uninstall"}, prepare: func(w *faultWorld) {
		w.write(".git/hooks/pre-push", "#!/bin/sh\ntrue\n")
		require.NoError(w.t, os.Chmod(w.path(".git/hooks/pre-push"), 0o755))
		w.tool("hooks", "install", "--push")
	}},
	{name: "hooks uninstall --agent", args: []string{"hooks", "uninstall", "--agent", "claude"}, prepare: func(w *faultWorld) {
		w.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
		w.tool("hooks", "install", "--agent", "claude")
	}},
	{name: "doctor --fix", args: []string{"doctor", "--fix"}, prepare: savedThrice, damage: func(w *faultWorld) {
		w.aged(".git/objects/ab/tmp_obj_left")
		if w.form != refsTable {
			w.aged(".git/refs/checkpoints/42.lock")
		}
		if w.form == refsLoose {
			w.write(".git/refs/checkpoints/42", "")
		}
	}},
}

// aged creates a file that looks like an old leftover of a process.
func (w *faultWorld) aged(name string) {
	w.write(name, "")
	long := time.Now().Add(-100 * 24 * time.Hour)
	require.NoError(w.t, os.Chtimes(filepath.Join(w.dir, name), long, long))
}
