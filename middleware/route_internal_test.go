package middleware

import "testing"

// The name is the same whether the pattern gives it or not.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, route, pattern, want string }{
		{"GET", "", "", "GET"},
		{"GET", "/users/{id}", "GET /users/{id}", "GET /users/{id}"},
		{"HEAD", "/users/{id}", "GET /users/{id}", "HEAD /users/{id}"},
		{"GET", "/users/{id}", "/users/{id}", "GET /users/{id}"},
		{"GET", "/users/{id}", "GET shop.example/users/{id}", "GET /users/{id}"},
		{"GET", "/users/{id}", "GET\t/users/{id}", "GET /users/{id}"},
		{"GET", "/v1/users", "GET /{id}/usr", "GET /v1/users"}, // of the caller, as long as the pattern
		{"PUT", "/users/{id}", "GET /users/{id}", "PUT /users/{id}"},
		{"HTTP", "/users/{id}", "/users/{id}", "HTTP /users/{id}"},
	} {
		var n names
		for range 2 {
			if got := n.get(tt.method, tt.route, tt.pattern); got != tt.want {
				t.Errorf("%q, %q, pattern %q: the name is %q, want %q", tt.method, tt.route, tt.pattern, got, tt.want)
			}
		}
	}
}
