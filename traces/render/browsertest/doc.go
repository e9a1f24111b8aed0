// Package browsertest opens what traces/render writes in a real browser. It has
// no code that ships; the command run in this folder starts it.
package browsertest
