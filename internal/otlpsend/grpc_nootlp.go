//go:build waymark_nootlp

package otlpsend

import "errors"

func newGRPC(Config) (transport, error) {
	return nil, errors.New("protocol grpc was left out of this program by the build tag waymark_nootlp: use http/protobuf")
}
