package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// An event is a row of the matrix. run drives the agent through it, and returns the marks
// that were observed; marks lists all marks that the event can have:
//
//	F  the hook of the event ran
//	S  the work was saved: a file of the session is in the newest checkpoint of its issue
//	C  the context reached the model: the data of the checkpoint is in a request
//	R  the command that git-checkpoint prints continued the conversation
//	T  the tokens of the turn are those of the server's answers, within 1%
//	1  a request has the data only once, and the turn was saved once
type row struct {
	name, marks string
	wide        bool // installed at the level that the guide recommends for the agent
	run         func(*world) (marks string, err error)
}

var events = []row{
	{name: "startup", marks: "FC", run: startup},
	{name: "resume", marks: "FCR", run: resume},
	{name: "turn", marks: "FST", run: turn},
	{name: "prompt", marks: "FS", run: prompt},
	{name: "compaction", marks: "FSC", run: compaction},
	{name: "interrupt", marks: "FS", run: func(w *world) (string, error) { return signalled(w, syscall.SIGINT) }},
	{name: "sigterm", marks: "FS", run: func(w *world) (string, error) { return signalled(w, syscall.SIGTERM) }},
	{name: "terminal", marks: "FS", run: closedTerminal},
	{name: "kill", marks: "FSC", run: killed},
	{name: "subdirectory", marks: "FSC", wide: true, run: subdirectory},
	{name: "worktree", marks: "FSC", wide: true, run: worktree},
	{name: "subagent", marks: "FS", run: subagent},
	{name: "nested", marks: "FS", run: nested},
	{name: "levels", marks: "1SC", run: levels},
}

// marks returns the letters whose condition holds.
func marks(pairs ...any) string {
	text := ""
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			text += pairs[i].(string)
		}
	}
	return text
}

// saveTime limits the wait for a save after the end of an agent: a hook may continue in
// the background.
const saveTime = 5 * time.Second

func (w *world) savedSoon(file string) bool {
	return until(saveTime, func() bool { return w.has(issue, file) })
}

func startup(w *world) (string, error) {
	_, err := w.run(w.agent.once("say hello")...)
	return marks("F", w.ran("session-start") > 0, "C", w.told(0)), err
}

func resume(w *world) (string, error) {
	if _, err := w.run(w.agent.once("%run{echo r >marigold.txt}")...); err != nil {
		return "", err
	}
	before, requests := w.ran("session-start"), len(w.server.requests(0))
	out, err := w.shell("git checkpoint status " + issue + " --json")
	if err != nil {
		return "", err
	}
	var status struct {
		ID      string `json:"session_id"`
		Command string `json:"session_command"`
	}
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		return "", err
	}
	fmt.Fprintf(&w.output, "session command: %s\n", status.Command)
	if status.Command == "" {
		return "", fmt.Errorf("status names no session")
	}
	_, err = w.run(w.agent.again(status.ID, "what was the file?")...)
	context := w.told(requests) || w.sent(requests, "git-checkpoint: issue "+issue) > 0
	return marks("F", w.ran("session-start") > before, "C", context, "R", w.sent(requests, "marigold") > 0), err
}

func turn(w *world) (string, error) {
	_, err := w.run(w.agent.once("%run{echo turn >turn.txt}")...)
	saved := w.savedSoon("turn.txt")
	return marks("F", w.ran("turn") > 0, "S", saved, "T", w.countedTokens()), err
}

// prompt changes a file as a person before the turn: blame shows the person, not the turn.
func prompt(w *world) (string, error) {
	if _, err := w.shell("echo a line >hand.txt"); err != nil {
		return "", err
	}
	_, err := w.run(w.agent.once("%run{echo turn >turn.txt}")...)
	saved := w.savedSoon("turn.txt")
	by, blameErr := w.shell("git checkpoint blame --issue " + issue + " hand.txt")
	return marks("F", w.ran("prompt") > 0, "S", saved && blameErr == nil && strings.Contains(by, "by hand")), err
}

func compaction(w *world) (string, error) {
	args := w.agent.once("%run{echo before >before.txt} %tokens{150000}")
	if w.agent.compact != nil {
		var err error
		if args, err = w.agent.compact(w); err != nil {
			return "", err
		}
	}
	_, err := w.run(args...)
	if err == nil && w.ran("pre-compact") == 0 && w.agent.compact == nil { // before the next prompt
		err = w.runAgain("continue")
	}
	requests := len(w.server.requests(0))
	if err == nil {
		err = w.runAgain("where were we?")
	}
	return marks("F", w.ran("pre-compact") > 0, "S", w.savedSoon("before.txt"), "C", w.told(requests)), err
}

// runAgain runs a prompt in the newest session.
func (w *world) runAgain(prompt string) error {
	out, err := w.shell("git checkpoint status " + issue + " --json")
	var status struct {
		ID string `json:"session_id"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &status)
	}
	if err == nil {
		_, err = w.run(w.agent.again(status.ID, prompt)...)
	}
	return err
}

// ends are the hooks that can save the work of an interrupted turn.
var ends = []string{"interrupt", "turn", "pre-compact", "session-end"}

// signalled sends a signal to the agent and its tools, like a terminal or an init system.
func signalled(w *world, signal syscall.Signal) (string, error) {
	before := 0
	err := w.during(w.agent.once("%run{echo s >s.txt; sleep 30}"), "s.txt", func(group int) error {
		before = w.ran(ends...)
		return syscall.Kill(-group, signal)
	})
	saved := w.savedSoon("s.txt")
	return marks("F", w.ran(ends...) > before, "S", saved), err
}

// during starts the agent, waits until it has written a file, and then calls act with its
// process group. It returns when the agent has ended.
func (w *world) during(args []string, file string, act func(group int) error) error {
	cmd := w.command(w.ctx, args)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	appeared := until(timeout, func() bool { return exists(filepath.Join(w.repo, file)) || isClosed(ended) })
	var err error
	if !appeared || isClosed(ended) {
		err = fmt.Errorf("%s did not write %s", w.agent.name, file)
	} else {
		time.Sleep(500 * time.Millisecond)
		err = act(cmd.Process.Pid)
	}
	if !until(15*time.Second, func() bool { return isClosed(ended) }) {
		fmt.Fprintf(&w.output, "(still runs after the signal)\n")
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	fmt.Fprintf(&w.output, "$ %s\n%s\n", strings.Join(args, " "), out.String())
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func closedTerminal(w *world) (string, error) {
	before := 0
	err := w.inTerminal(w.agent.screen("%run{echo t >t.txt; sleep 30}"), "t.txt", func() { before = w.ran(ends...) })
	saved := until(saveTime+w.agent.late, func() bool { return w.has(issue, "t.txt") })
	return marks("F", w.ran(ends...) > before, "S", saved), err
}

// killed kills the agent in its second turn. The first turn is saved, and the next session
// gets the context.
func killed(w *world) (string, error) {
	if _, err := w.run(w.agent.once("%run{echo k >k.txt}")...); err != nil {
		return "", err
	}
	err := w.during(w.agent.once("%run{echo second >second.txt; sleep 30}"), "second.txt", func(group int) error {
		return syscall.Kill(-group, syscall.SIGKILL)
	})
	if err != nil {
		return "", err
	}
	starts, requests := w.ran("session-start"), len(w.server.requests(0))
	_, err = w.run(w.agent.once("say hello")...)
	return marks("F", w.ran("session-start") > starts, "S", w.savedSoon("k.txt"), "C", w.told(requests)), err
}

func subdirectory(w *world) (string, error) {
	w.cwd = filepath.Join(w.repo, "sub")
	if err := os.Mkdir(w.cwd, 0o777); err != nil {
		return "", err
	}
	_, err := w.run(w.agent.once("%run{echo d >d.txt}")...)
	return marks("F", w.ran("session-start") > 0 && w.ran("turn") > 0, "S", w.savedSoon("sub/d.txt"), "C", w.told(0)), err
}

// worktree runs the agent in a linked worktree, whose branch has another issue.
func worktree(w *world) (string, error) {
	err := w.commands(
		"git worktree add -q -b feature/issue-43-y '"+w.place()+"'",
		"cd '"+w.place()+"' && GIT_CHECKPOINT_NOW="+time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)+" git checkpoint save -m 'other work'",
		": >"+w.log(),
	)
	if err != nil {
		return "", err
	}
	w.cwd = w.place()
	_, err = w.run(w.agent.once("%run{echo w >w.txt}")...)
	saved := until(saveTime, func() bool { return w.has("43", "w.txt") }) && !w.has(issue, "w.txt")
	return marks("F", w.ran("session-start") > 0 && w.ran("turn") > 0, "S", saved, "C", w.sent(0, "other work") > 0), err
}

func subagent(w *world) (string, error) {
	_, err := w.run(w.agent.once("%ask{%run{echo a >sub.txt}} %wait{5}")...)
	if err == nil && !until(saveTime, func() bool { return exists(filepath.Join(w.repo, "sub.txt")) }) {
		return "", fmt.Errorf("%s called no subagent", w.agent.name)
	}
	return marks("F", w.ran("turn") > 0, "S", w.savedSoon("sub.txt")), err
}

// nested lets the agent change to a nested repository, whose branch has another issue.
func nested(w *world) (string, error) {
	err := w.commands(
		"git init -q vendor/lib",
		"git -C vendor/lib commit -q --allow-empty -m first",
		"git -C vendor/lib switch -qc issue-99-inner",
	)
	if err != nil {
		return "", err
	}
	_, err = w.run(w.agent.once("%run{echo o >o.txt && cd vendor/lib && echo n >n.txt}")...)
	saved := w.savedSoon("o.txt")
	for _, dir := range []string{".", "vendor/lib"} {
		if _, err := w.shell("git -C " + dir + " rev-parse -q --verify refs/checkpoints/99"); err == nil {
			saved = false
		}
	}
	return marks("F", w.ran("turn") > 0, "S", saved), err
}

// levels has the hooks in the settings of the project and of the user.
func levels(w *world) (string, error) {
	if err := w.install("--global"); err != nil {
		return "", fmt.Errorf("no settings of the user: %w", err)
	}
	_, err := w.run(w.agent.once("%run{echo l >l.txt}")...)
	saved, turns, most := w.savedSoon("l.txt"), 0, 0
	for _, trigger := range w.triggers() {
		if trigger == "turn" {
			turns++
		}
	}
	for _, body := range w.server.requests(0) {
		most = max(most, strings.Count(body, "begin checkpoint data"))
	}
	return marks("1", most == 1 && turns <= 1, "S", saved, "C", most > 0), err
}
