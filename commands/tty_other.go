//go:build !unix

package commands

// ttyName is the console.
const ttyName = "CON"
