//go:build !unix

package odb

import "errors"

// changeOf always fails on this system: files of other programs cannot be synced here,
// and Git for Windows syncs its objects.
func changeOf(string) (change, error) { return change{}, errors.ErrUnsupported }
