// Package tracefile is being written.
package tracefile
