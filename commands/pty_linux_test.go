package commands

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cmdExpect runs a command at a terminal and drives a dialog:
//
//	expect [-stdout file] [-columns n] dialog code command [argument...]
//
// In the file dialog, a line "> keys" is typed, with Go's escapes. The line "hang up" closes the
// terminal. Any other line is expected output. The terminal's content is written to $WORK/tty.
func cmdExpect(ts *testscript.TestScript, neg bool, args []string) {
	stdout, columns := "", 0
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-stdout":
			stdout = args[1]
		case "-columns":
			n, err := strconv.Atoi(args[1])
			ts.Check(err)
			columns = n
		}
		args = args[2:]
	}
	if neg || len(args) < 3 {
		ts.Fatalf("usage: expect [-stdout file] [-columns n] dialog code command [argument...]")
	}
	script := ts.ReadFile(args[0])
	screen, slave := openPty(ts)
	ts.Check(unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if stdout != "" {
		f, err := os.Create(ts.MkAbs(stdout))
		ts.Check(err)
		defer f.Close()
		cmd.Stdout = f
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	slave.Close()
	talk(ts, cmd, screen, script)
	code := exitCode(wait(ts, cmd))
	screen.wait()
	ts.Logf("[tty]\n%s", screen.text())
	ts.Check(os.WriteFile(ts.Getenv("WORK")+"/tty", []byte(screen.text()), 0o666))
	if code != args[1] {
		ts.Fatalf("exit code %s, want %s", code, args[1])
	}
}

// patience ends a wait for output that does not come.
const patience = 2 * time.Minute

// talk waits for output and types keys.
func talk(ts *testscript.TestScript, cmd *exec.Cmd, s *screen, script string) {
	at := 0
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if keys, ok := strings.CutPrefix(line, "> "); ok {
			time.Sleep(50 * time.Millisecond) // no person types faster
			_, err := s.master.WriteString(unescape(ts, keys))
			ts.Check(err)
			continue
		}
		if line == "hang up" {
			ts.Check(s.master.Close())
			continue
		}
		end := time.Now().Add(patience)
		for !strings.Contains(s.text()[at:], line) {
			if time.Now().After(end) {
				_ = cmd.Process.Kill()
				ts.Fatalf("waited for %q, the terminal shows:\n%s", line, s.text())
			}
			time.Sleep(2 * time.Millisecond)
		}
		at += strings.Index(s.text()[at:], line) + len(line)
	}
}

// wait is cmd.Wait with a time limit.
func wait(ts *testscript.TestScript, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		ts.Fatalf("%v does not end", cmd.Args)
		return nil
	}
}

// A screen records terminal output.
type screen struct {
	master *os.File
	mu     sync.Mutex
	shown  bytes.Buffer
	ended  chan struct{} // closed when no process has the terminal open
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// wait returns after all output, or after two seconds if a process keeps the terminal
// open.
func (s *screen) wait() {
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second):
	}
}

func (s *screen) read() {
	defer close(s.ended)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func openPty(ts *testscript.TestScript) (*screen, *os.File) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	ts.Check(err)
	master := os.NewFile(uintptr(fd), "/dev/ptmx") // closing it ends a read
	ts.Check(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	ts.Check(err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	s := &screen{master: master, ended: make(chan struct{})}
	go s.read()
	ts.Defer(func() { master.Close() })
	return s, slave
}
