// Package otlpjson is being written.
package otlpjson
