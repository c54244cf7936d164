//go:build !unix

package odb

import (
	"errors"
	"time"
)

type change struct {
	dev, ino uint64
	at       time.Time
}

// changeOf always fails on this system: files of other programs cannot be synced here,
// and Git for Windows syncs its objects.
func changeOf(string) (change, error) { return change{}, errors.ErrUnsupported }

func changedFanOut(string, time.Time) []string { return nil }

func changedFiles(string, time.Time) []string { return nil }
