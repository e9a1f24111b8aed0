// Package statepath is being written.
package statepath
