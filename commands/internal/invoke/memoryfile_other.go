//go:build unix && !linux

package invoke

import (
	"errors"
	"os"
)

// memoryFile fails, because only Linux has files in memory without a name.
func memoryFile() (*os.File, error) { return nil, errors.ErrUnsupported }
