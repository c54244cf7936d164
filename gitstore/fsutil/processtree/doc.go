// Package processtree starts programs on Windows so that they can be ended with all
// processes that they have started; other systems have process groups. On these, it starts programs
// that stay in the background.
package processtree
