//go:build !waymark_nootlp

package bootstrap_test

const otlpBuiltIn = true
