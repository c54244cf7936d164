//go:build !unix

package odb

import (
	"errors"
	"os"
)

var errCannotMap = errors.New("file cannot be mapped")

func mapFile(*os.File, int64) ([]byte, error) { return nil, errCannotMap }

func unmap([]byte) error { return nil }
