// Package render is being written.
package render
