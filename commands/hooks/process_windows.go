package hooks

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// process returns the command line and the parent of a process. It returns nil if the
// process has ended or cannot be opened. Windows gives the id of a process that has ended
// to a new process, so the caller compares the command lines only.
func process(pid int) (argv []string, parent int) {
	argv, err := commandLine(uint32(pid))
	if err != nil || len(argv) == 0 {
		return nil, 0
	}
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, 0
	}
	defer windows.CloseHandle(all)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(all, &entry); err == nil; err = windows.Process32Next(all, &entry) {
		if entry.ProcessID == uint32(pid) {
			return argv, int(entry.ParentProcessID)
		}
	}
	return nil, 0
}

// maxCommandLine is the limit of Windows in bytes, with the header of the string.
const maxCommandLine = 64<<10 + 64

func commandLine(pid uint32) ([]string, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(process)
	buffer := make([]uint64, maxCommandLine/8) // aligned for the string's header
	at := unsafe.Pointer(&buffer[0])
	if err := windows.NtQueryInformationProcess(process, windows.ProcessCommandLineInformation, at, maxCommandLine, nil); err != nil {
		return nil, err
	}
	return windows.DecomposeCommandLine((*windows.NTUnicodeString)(at).String())
}
