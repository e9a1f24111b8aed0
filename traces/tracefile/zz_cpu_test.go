package tracefile_test
import ("testing";"syscall";"bytes";"fmt";"os";"go.opentelemetry.io/collector/pdata/ptrace";"github.com/waymark-trace/waymark/traces/tracefile";"encoding/json")
func cpu() float64 { var r syscall.Rusage; syscall.Getrusage(0,&r); return float64(r.Utime.Sec+r.Stime.Sec)+float64(r.Utime.Usec+r.Stime.Usec)/1e6 }
func TestCPU(t *testing.T) {
 if os.Getenv("CPU")=="" { t.Skip() }
 data := benchFile()
 cases := map[string]func(){
  "pdata": func(){ for line := range bytes.Lines(data) { (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line) } },
  "encjson": func(){ dec := json.NewDecoder(bytes.NewReader(data)); for { var doc jsonDocument; if dec.Decode(&doc)!=nil {break} } },
 }
 for _, w := range []int{1,2} { for n,o := range map[string][]tracefile.Option{"fields":{tracefile.WithAttributes()},"route":{tracefile.WithAttributes("http.route")},"whole":nil} {
  cases[fmt.Sprint(n,w)] = func(){ for range tracefile.NewReader(bytes.NewReader(data), append(o, tracefile.WithWorkers(w))...).Spans() {} } } }
 best := map[string]float64{}
 for range 7 { for n,f := range cases { a:=cpu(); f(); d:=cpu()-a; if b,ok:=best[n]; !ok||d<b { best[n]=d } } }
 for n,d := range best { fmt.Printf("%-10s %7.1f MB/s cpu  %.2fx pdata %.2fx json\n", n, float64(len(data))/1e6/d, best["pdata"]/d, best["encjson"]/d) }
}
