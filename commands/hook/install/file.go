package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/hook"
)

// createHook writes a file that is not there. Husky's need not be executable.
func createHook(path, text string, s hook.Style) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	mode := os.FileMode(0o777)
	if s.Bare {
		mode = 0o666
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// replaceFile puts another text into a file, at once and with its mode kept.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// moveHook moves a file or a symlink. The target of a relative symlink is
// written from its new place, where up leads to the old one, or away from it
// when up is "".
func moveHook(from, to, up string) error {
	target, err := os.Readlink(from)
	if err != nil || filepath.IsAbs(target) {
		return os.Rename(from, to)
	}
	if up != "" {
		target = up + "/" + target
	} else {
		target = strings.TrimPrefix(target, "../")
	}
	if err := os.Symlink(target, to); err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	return os.Remove(from)
}
