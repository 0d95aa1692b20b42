// Command kstatus prints how kstatus reads objects: those of its own tests, and variants of each with one field changed.
// Its output is what the readiness of krator-runtime is compared with:
//
//	cd tools && go run ./kstatus > ../crates/krator-runtime/tests/readiness/cases.jsonl
//
// Each line is an object or a variant of one that came before, with the answer. The objects are those of
// sigs.k8s.io/cli-utils, copyright The Kubernetes Authors, under the Apache License 2.0.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

const module = "sigs.k8s.io/cli-utils"

// line is an object, or a variant: an object with one field set, or removed when there is no new value.
type line struct {
	Name    string `json:"name,omitempty"`
	Object  any    `json:"object,omitempty"`
	Of      string `json:"of,omitempty"`
	At      string `json:"at,omitempty"`
	To      any    `json:"to,omitempty"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	write := func(written line, object map[string]any) {
		written.Status, written.Message = compute(object)
		must(encoder.Encode(written))
	}
	objects := testObjects()
	for _, name := range sortedKeys(objects) {
		object := decode(objects[name])
		write(line{Name: name, Object: object}, object)
		variants(object, func(path []string, to any) {
			variant := decode(objects[name])
			set(variant, path, to)
			write(line{Of: name, At: "/" + strings.Join(path, "/"), To: to}, variant)
		})
	}
}

// compute asks kstatus. An object that it cannot read has the status "error".
func compute(object map[string]any) (string, string) {
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return "error", err.Error()
	}
	return result.Status.String(), result.Message
}

// testObjects returns the manifests in the tests of kstatus: its global variables that contain one. Where a test inserts
// the present time, there is one object that was created long ago and one of the far future.
func testObjects() map[string]string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	must(err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "pkg/kstatus/status/*_test.go"))
	must(err)
	found := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(err)
		for _, declaration := range parsed.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, spec := range general.Specs {
				value := spec.(*ast.ValueSpec)
				for at, expression := range value.Values {
					literal, ok := expression.(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING {
						continue
					}
					text, err := strconv.Unquote(literal.Value)
					must(err)
					name := value.Names[at].Name
					if strings.Contains(text, "%s") {
						found[name+"Future"] = strings.ReplaceAll(text, "%s", "2999-01-01T00:00:00Z")
						text = strings.ReplaceAll(text, "%s", "2019-01-01T00:00:00Z")
					}
					if strings.Contains(text, "kind:") {
						found[name] = text
					}
				}
			}
		}
	}
	return found
}

func decode(manifest string) map[string]any {
	text, err := yaml.YAMLToJSON([]byte(manifest))
	must(err)
	object, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
	must(err)
	return object.(*unstructured.Unstructured).Object
}

// values are those that mean something to kstatus, by the name of the field.
var values = map[string][]any{
	"apiVersion":        {"example.com/v1", "extensions/v1beta1"},
	"deletionTimestamp": {"2026-01-01T00:00:00Z"},
	"reason": {
		"CrashLoopBackOff", "Installing", "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "Unschedulable",
	},
	"phase":                   {"Bound", "Failed", "Pending", "Running", "Succeeded", "Unknown"},
	"progressDeadlineSeconds": {int64(2147483647)},
	"status":                  {"False", "True", "Unknown"},
	"type":                    {"LoadBalancer", "OnDelete", "Ready", "Reconciling", "Stalled"},
}

// variants visits each change of one field that may matter.
func variants(object map[string]any, visit func(path []string, to any)) {
	visit([]string{"metadata", "deletionTimestamp"}, values["deletionTimestamp"][0])
	visit([]string{"status", "observedGeneration"}, int64(7))
	visit([]string{"metadata", "generation"}, nil)
	for _, group := range values["apiVersion"] {
		visit([]string{"apiVersion"}, group)
	}
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		here := append([]string{}, path...)
		visit(here, nil)
		switch value := value.(type) {
		case map[string]any:
			for _, key := range sortedKeys(value) {
				walk(value[key], append(here, key))
			}
		case []any:
			for at, item := range value {
				walk(item, append(here, strconv.Itoa(at)))
			}
		case int64:
			visit(here, value+1)
			if value != 0 {
				visit(here, int64(0))
			}
		case string:
			for _, to := range values[here[len(here)-1]] {
				if to != value {
					visit(here, to)
				}
			}
		}
	}
	for _, part := range []string{"spec", "status"} {
		if value, ok := object[part]; ok {
			walk(value, []string{part})
		}
	}
}

// set sets the field at a path, or removes it. Maps on the way are created.
func set(object map[string]any, path []string, to any) {
	var parent any = object
	var replace func(any)
	for at, key := range path {
		last := at == len(path)-1
		switch here := parent.(type) {
		case map[string]any:
			if last && to == nil {
				delete(here, key)
			} else if last {
				here[key] = to
			} else {
				if here[key] == nil {
					here[key] = map[string]any{}
				}
				replace = func(value any) { here[key] = value }
				parent = here[key]
			}
		case []any:
			index, err := strconv.Atoi(key)
			must(err)
			if last && to == nil {
				replace(append(append([]any{}, here[:index]...), here[index+1:]...))
			} else if last {
				here[index] = to
			} else {
				replace = func(value any) { here[index] = value }
				parent = here[index]
			}
		}
	}
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kstatus:", err)
		os.Exit(1)
	}
}
