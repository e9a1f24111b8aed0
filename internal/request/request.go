// Package request is being written.
package request
