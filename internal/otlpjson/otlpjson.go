// Package otlpjson is the one JSON codec of this module, on plain values: the
// append functions write OTLP/JSON for the exporter and for converters, and
// [Scanner] reads any JSON without a tree and without reflection, for every
// dialect of span files. It imports no OTel, and knows no model of spans.
package otlpjson
