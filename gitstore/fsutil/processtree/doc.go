// Package processtree starts programs on Windows so that they can be ended with all
// processes that they have started. Other systems have process groups, and no code in this
// package.
package processtree
