package hook

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// IsDryPush reports whether a command line is a git push, and whether the push is a dry
// run.
func IsDryPush(argv []string) (push, dry bool) {
	name, args := GitCommand(argv)
	if name != "push" {
		return false, false
	}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch arg := args[i]; {
		case arg == "--no-dry-run":
			dry = false
		case len(arg) >= len("--dr") && strings.HasPrefix("--dry-run", arg):
			dry = true
		case arg == "-o" || arg == "--push-option" || arg == "--receive-pack" || arg == "--exec" || arg == "--repo":
			i++
		case len(arg) > 1 && arg[0] == '-' && arg[1] != '-':
			flags, _, _ := strings.Cut(arg[1:], "o") // "o" starts a push option
			dry = dry || strings.Contains(flags, "n")
		}
	}
	return true, dry
}

// GitCommand splits a git command line into subcommand and arguments. The name is "" for
// other programs.
func GitCommand(argv []string) (name string, args []string) {
	if len(argv) == 0 {
		return "", nil
	}
	program := strings.TrimSuffix(argv[0][strings.LastIndexAny(argv[0], `/\`)+1:], ".exe")
	if dashed, ok := strings.CutPrefix(program, "git-"); ok {
		return dashed, argv[1:]
	}
	if program != "git" {
		return "", nil
	}
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case arg == "-C" || arg == "-c" || arg == "--git-dir" || arg == "--work-tree" || arg == "--namespace" || arg == "--config-env":
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg, argv[i+1:]
		}
	}
	return "", nil
}

// An Update is one line of a pre-push hook's standard input:
//
//	<local ref> SP <local object> SP <remote ref> SP <remote object> LF
//
// A deletion has "(delete)" and zeros on the local side; a creation has zeros on the
// remote side. Git sends no lines if everything is up to date.
type Update struct {
	LocalRef, Local   string
	RemoteRef, Remote string
}

// Deletes reports whether the update deletes the ref.
func (u Update) Deletes() bool { return strings.Trim(u.Local, "0") == "" }

// Branch returns the pushed branch, or "" for a deletion or other refs.
func (u Update) Branch() string {
	for _, ref := range []string{u.LocalRef, u.RemoteRef} {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && !u.Deletes() {
			return name
		}
	}
	return ""
}

var errUpdate = errors.New("standard input is not a list of refs")

// ParseUpdates parses a pre-push hook's standard input.
func ParseUpdates(r io.Reader) ([]Update, error) {
	var updates []Update
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		if n := len(words); n > 4 { // the local ref can contain spaces: HEAD@{1 day ago}
			words = append([]string{strings.Join(words[:n-3], " ")}, words[n-3:]...)
		}
		if len(words) != 4 || !isObject(words[1]) || !isObject(words[3]) {
			return nil, errUpdate
		}
		updates = append(updates, Update{words[0], words[1], words[2], words[3]})
	}
	return updates, lines.Err()
}

func isObject(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
