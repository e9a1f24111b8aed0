package env

import (
	"net/url"
	"slices"
	"time"
)

const (
	protocolGRPC  = "grpc"
	protocolHTTP  = "http/protobuf"
	protocolJSON  = "http/json"
	defaultGRPC   = "http://localhost:4317"
	defaultHTTP   = "http://localhost:4318" + tracesPath
	tracesPath    = "/v1/traces"
	portGRPC      = "4317"
	portHTTP      = "4318"
	insteadOfOTLP = "the file"
)

// readOTLP reads the exporter's variables, unless nothing asks for OTLP: then
// they may be meant for another program and are not looked at.
func (p *parser) readOTLP(exporters Value[[]string]) OTLP {
	o := OTLP{
		Protocol:    Value[string]{V: protocolHTTP},
		Compression: Value[string]{V: "none"},
		Timeout:     Value[time.Duration]{V: 10 * time.Second},
	}
	key, raw := p.first(KeyOTLPTracesEndpoint, KeyOTLPEndpoint)
	named := slices.Contains(exporters.V, "otlp")
	if !named && (key == "" || exporters.IsSet()) {
		return o
	}
	o.Unusable = p.readProtocol(&o.Protocol)
	if o.Unusable == "" {
		u := p.readEndpoint(key, raw, o.Protocol.V)
		if u == nil {
			o.Unusable = key + " has no usable URL"
		} else {
			o.Endpoint = Value[string]{V: u.String(), Key: key}
			p.readSecurity(&o, u)
		}
	}
	o.Headers = p.readHeaders(o.Protocol.V)
	o.Compression = read(p, o.Compression.V, parseEnum("gzip", "none"), KeyOTLPTracesCompression, KeyOTLPCompression)
	o.Timeout = read(p, o.Timeout.V, parseMillis(0), KeyOTLPTracesTimeout, KeyOTLPTimeout)
	return o
}

// readProtocol reads the protocol and says why there is none to use. One for
// traces that is bad does not fall back to the general one: the program would
// speak a protocol that nobody asked for.
func (p *parser) readProtocol(protocol *Value[string]) (unusable string) {
	key, raw := p.first(KeyOTLPTracesProtocol, KeyOTLPProtocol)
	if key == "" {
		return ""
	}
	v, want := parseEnum(protocolGRPC, protocolHTTP, protocolJSON)(raw)
	if want != "" {
		p.find(key, raw, want, insteadOfOTLP)
		return key + " names no supported protocol"
	}
	*protocol = Value[string]{V: v, Key: key}
	return ""
}

// readSecurity reads what decides on TLS. The scheme does, alone: with INSECURE
// or a certificate against it an exporter would send credentials in clear text,
// or speak TLS to a server that does not.
func (p *parser) readSecurity(o *OTLP, u *url.URL) {
	tls := u.Scheme == "https"
	insecure := read(p, false, parseBool, KeyOTLPTracesInsecure, KeyOTLPInsecure)
	if insecure.IsSet() && insecure.V == tls {
		raw, _ := p.get(insecure.Key)
		want, used := "http:// in the endpoint, or no such variable", "TLS, as https:// says"
		if !tls {
			want, used = "https:// in the endpoint, or no such variable", "plain text, as http:// says"
		}
		p.find(insecure.Key, raw, want, used)
	}
	o.Certificate = p.readPEM(KeyOTLPTracesCertificate, KeyOTLPCertificate)
	o.ClientCertificate = p.readPEM(KeyOTLPTracesClientCertificate, KeyOTLPClientCertificate)
	o.ClientKey = p.readPEM(KeyOTLPTracesClientKey, KeyOTLPClientKey)
	switch cert, key := o.ClientCertificate, o.ClientKey; {
	case !tls:
		for _, v := range []*Value[string]{&o.Certificate, &o.ClientCertificate, &o.ClientKey} {
			p.dropPEM(v, "https:// in the endpoint", "plain text, as http:// says")
		}
	case cert.IsSet() && !key.IsSet():
		p.dropPEM(&o.ClientCertificate, KeyOTLPClientKey+" beside it", "no client certificate")
	case key.IsSet() && !cert.IsSet():
		p.dropPEM(&o.ClientKey, KeyOTLPClientCertificate+" beside it", "no client certificate")
	}
}

func (p *parser) readPEM(keys ...string) Value[string] {
	key, raw := p.first(keys...)
	return Value[string]{V: raw, Key: key}
}

// dropPEM forgets a path that cannot be used. The finding does not show it:
// some put the key itself where its path should be.
func (p *parser) dropPEM(v *Value[string], want, used string) {
	if v.IsSet() {
		p.find(v.Key, masked, want, used)
		*v = Value[string]{}
	}
}
