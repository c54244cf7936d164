package processtree

import (
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Tree is a started program with the processes that it starts. They belong to a job
// object. The job does not end with this process, so a program outlives it as on other
// systems.
type Tree struct {
	cmd *exec.Cmd
	job windows.Handle // 0 if the system allows no job for the program
}

// Start starts cmd. The program begins to run after it was added to the job, so that no
// child process escapes.
func Start(cmd *exec.Cmd) (*Tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &Tree{cmd: cmd, job: jobOf(uint32(cmd.Process.Pid))}
	if err := resume(uint32(cmd.Process.Pid)); err != nil {
		t.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return t, nil
}

// Kill ends the program and all processes of the job.
func (t *Tree) Kill() error {
	if t.job == 0 || windows.TerminateJobObject(t.job, 1) != nil {
		return t.cmd.Process.Kill()
	}
	return nil
}

// jobOf returns a new job object that contains a process, or 0.
func jobOf(pid uint32) windows.Handle {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(process)
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	if windows.AssignProcessToJobObject(job, process) != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	return job
}

// resume starts the thread of a process that was created suspended.
func resume(pid uint32) error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(threads)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		return err
	}
	return err
}
