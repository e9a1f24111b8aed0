// Package bootstrap is being written.
package bootstrap
