//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inTerminal starts the agent in a terminal, and closes the terminal as soon as the agent
// has written a file.
func (w *world) inTerminal(args []string, file string, before func()) error {
	master, slave, err := openTerminal()
	if err != nil {
		return err
	}
	cmd := w.command(w.ctx, args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		return err
	}
	shown := &lockedBuffer{}
	go readTerminal(master, shown)
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	if !until(timeout/2, func() bool { return exists(filepath.Join(w.repo, file)) || isClosed(ended) }) || isClosed(ended) {
		err = fmt.Errorf("%s did not write %s", w.agent.name, file)
	} else {
		time.Sleep(500 * time.Millisecond)
	}
	before()
	master.Close()
	if !until(15*time.Second, func() bool { return isClosed(ended) }) {
		fmt.Fprintf(&w.output, "(still runs after its terminal was closed)\n")
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	}
	fmt.Fprintf(&w.output, "$ %s\n%s\n", strings.Join(args, " "), shown.String())
	return err
}

// readTerminal records what the agent shows, and answers its questions about the terminal.
func readTerminal(master *os.File, shown *lockedBuffer) {
	answers := []struct{ question, answer string }{
		{"\x1b[6n", "\x1b[1;1R"}, {"\x1b[c", "\x1b[?62;22c"}, {"\x1b[0c", "\x1b[?62;22c"}, {"\x1b[?u", "\x1b[?0u"}, {"\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"},
	}
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		if err != nil {
			return
		}
		_, _ = shown.Write(buf[:n])
		for _, a := range answers {
			if bytes.Contains(buf[:n], []byte(a.question)) {
				_, _ = master.WriteString(a.answer)
			}
		}
	}
}

// openTerminal opens a pseudo-terminal of 100 columns.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}

// endProcesses kills the processes whose HOME is home: agents start some that outlive them.
func endProcesses(home string) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte("HOME="+home+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A lockedBuffer is a buffer that two goroutines can use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
