package env_test

import (
	"fmt"

	"github.com/waymark-trace/waymark/env"
)

func ExampleParse() {
	settings, findings := env.Parse("shop", env.Map{
		"SHOP_TRACING":                "true",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318",
		"OTEL_BSP_SCHEDULE_DELAY":     "5s",
		"OTEL_SERVCE_NAME":            "checkout",
	})
	fmt.Println(settings.Tracing.V, settings.OTLP.Endpoint.V, "from", settings.OTLP.Endpoint.Key)
	for _, f := range findings {
		fmt.Println(f.Error())
	}
	// Output:
	// true http://localhost:4318/v1/traces from OTEL_EXPORTER_OTLP_ENDPOINT
	// env: OTEL_BSP_SCHEDULE_DELAY="5s": want a whole number from 1 to 2147483647, in milliseconds (here 5000); using 5s
	// env: OTEL_SERVCE_NAME="***": want the name OTEL_SERVICE_NAME; using nothing of it
}

func ExamplePrefix() {
	fmt.Println(env.Prefix("my-shop") + env.SuffixTracing)
	// Output: MY_SHOP_TRACING
}

func ExampleVariables() {
	v := env.Variables("shop")[0]
	fmt.Println(v.Name, "is", v.Default, "unless set")
	// Output: SHOP_TRACING is off unless set
}
