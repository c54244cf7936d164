//go:build !unix

package index

import (
	"errors"
	"math"
)

// mapThreshold disables mapping on this system.
const mapThreshold = math.MaxInt64

func (x *Index) mapFile(int64) error { return errors.ErrUnsupported }

func (x *Index) relax() {}

func (x *Index) unmap() error { return nil }
