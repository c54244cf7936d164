package commands

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdExamples runs every help example in a copy of directory world: `examples world
// codes`. Each line of file codes contains a non-zero exit code and the prefix of
// examples that return this code.
func cmdExamples(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: examples world codes")
	}
	world, codes := ts.MkAbs(args[0]), ts.ReadFile(args[1])
	var lines []string
	for _, c := range allCommands() {
		lines = append(lines, c.Examples...)
	}
	problems := make([]string, len(lines))
	var wait sync.WaitGroup
	limit := make(chan bool, 4)
	for i, line := range lines {
		wait.Go(func() {
			limit <- true
			problems[i] = runExample(ts, world, fmt.Sprintf("%s-%d", world, i), line, codeOfExample(codes, line))
			<-limit
		})
	}
	wait.Wait()
	if all := strings.Join(problems, ""); all != "" {
		ts.Fatalf("%s", all)
	}
}

// codeOfExample returns the code of the longest prefix that matches a line.
func codeOfExample(codes, line string) string {
	found, code := "", "0"
	for row := range strings.Lines(codes) {
		c, begin, _ := strings.Cut(strings.TrimSpace(row), " ")
		if strings.HasPrefix(line, begin) && len(begin) > len(found) {
			found, code = begin, c
		}
	}
	return code
}

// runExample runs a line in a world copy's repository. It returns an error message if the
// exit code differs, or "".
func runExample(ts *testscript.TestScript, world, dir, line, want string) string {
	defer os.RemoveAll(dir)
	if out, err := exec.Command("cp", "-R", world, dir).CombinedOutput(); err != nil {
		return fmt.Sprintf("%s: %s: %s\n", line, err, out)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir + "/repo"
	cmd.Env = append(environ(ts), "PWD="+cmd.Dir)
	run := cmd.CombinedOutput
	if strings.HasPrefix(line, "git checkpoint web") && !strings.Contains(line, "--export") {
		run = func() ([]byte, error) { return interrupted(cmd, line) }
	}
	out, err := run()
	if got := exitCode(err); got != want {
		return fmt.Sprintf("%s\nends with %s, not %s:\n%s\n", line, got, want, out)
	}
	return ""
}

// interrupted runs a line that does not end by itself, and interrupts it after its first
// line of output.
func interrupted(cmd *exec.Cmd, line string) ([]byte, error) {
	cmd.Args[2] = "exec " + strings.Replace(line, "git checkpoint", "git-checkpoint", 1) // so that the signal reaches only this process
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	text, _ := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Signal(os.Interrupt)
	return []byte(text), cmd.Wait()
}
