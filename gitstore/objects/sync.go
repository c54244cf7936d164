package objects

import "os"

// syncPath brings an existing file to the disk.
func syncPath(path string) error {
	f, err := os.OpenFile(path, syncFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
