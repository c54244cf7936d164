package hook

import "strings"

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
