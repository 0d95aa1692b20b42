// Command types prints the Go types of the kinds that krator-apiserver has itself, as encoding/json sees them: the
// OpenAPI documents say neither which empty fields are written nor how errors name types.
//
//	cd tools
//	go run ./openapi/types > ../crates/krator-apiserver/data/types.txt
//	go run ./openapi/types protobuf > ../crates/krator-apiserver/data/protobuf.txt
//	go run ./openapi/types samples > ../crates/krator-apiserver/src/protobuf/samples.txt
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// The kinds that only subresources and options have.
var below = []any{
	corev1.Binding{}, policyv1.Eviction{}, authenticationv1.TokenRequest{}, autoscalingv1.Scale{}, metav1.DeleteOptions{},
}

// roots are objects of the kinds served, as the file discovery.txt lists them.
var roots = append(served("../crates/krator-apiserver/data/discovery.txt"), below...)

func served(path string) []any {
	check(apiextensions.AddToScheme(scheme.Scheme))
	check(apiregistration.AddToScheme(scheme.Scheme))
	text, err := os.ReadFile(path)
	check(err)
	var objects []any
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.SplitN(line, " ", 3)
		var resource struct {
			ResponseKind struct{ Kind string }
		}
		check(json.Unmarshal([]byte(words[2]), &resource))
		group := words[0]
		if group == "core" {
			group = ""
		}
		kind := schema.GroupVersionKind{Group: group, Version: words[1], Kind: resource.ResponseKind.Kind}
		object, err := scheme.Scheme.New(kind)
		check(err)
		objects = append(objects, reflect.ValueOf(object).Elem().Interface())
	}
	return objects
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "":
		printTypes()
	case "protobuf":
		printMessages()
	case "samples":
		printSamples()
	default:
		panic("usage: types [protobuf | samples]")
	}
}

func printTypes() {
	lines := map[string]string{}
	for _, root := range roots {
		describe(reflect.TypeOf(root), lines)
	}
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("# The Go types of the kinds served, drawn from the sources of Kubernetes by tools/openapi/types. Do not edit.")
	fmt.Println("# NAME = scalar | custom   or   NAME: FIELD TYPE; …  with FIELD? for omitempty, FIELD~ for omitzero and OUTER>FIELD")
	fmt.Println("# for a field of the embedded struct OUTER.")
	for _, name := range names {
		fmt.Fprintln(os.Stdout, name+lines[name])
	}
}

// describe adds the line of a named type and of all types that it refers to.
func describe(t reflect.Type, lines map[string]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		if t.Name() == "" {
			describe(t.Elem(), lines)
			return
		}
	case reflect.Map:
		if t.Name() == "" {
			describe(t.Key(), lines)
			describe(t.Elem(), lines)
			return
		}
	}
	if t.PkgPath() == "" {
		return
	}
	name := spell(t)
	if _, known := lines[name]; known {
		return
	}
	lines[name] = ""
	switch {
	case reflect.PointerTo(t).Implements(unmarshaler):
		lines[name] = " = custom"
	case t.Kind() == reflect.Struct:
		lines[name] = ": " + strings.Join(fields(t, "", lines), "; ")
	case t.Kind() == reflect.Map:
		lines[name] = " = map[" + spell(t.Key()) + "]" + spell(t.Elem())
		describe(t.Key(), lines)
		describe(t.Elem(), lines)
	case t.Kind() == reflect.Slice:
		lines[name] = " = []" + spell(t.Elem())
		describe(t.Elem(), lines)
	default:
		lines[name] = " = " + t.Kind().String()
	}
}

func fields(t reflect.Type, outer string, lines map[string]string) []string {
	var all []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "-" || !field.IsExported() {
			continue
		}
		if field.Anonymous && tag[0] == "" {
			all = append(all, fields(field.Type, outer+field.Name+">", lines)...)
			continue
		}
		name := tag[0]
		if name == "" {
			name = field.Name
		}
		for _, option := range tag[1:] {
			switch option {
			case "omitempty":
				name += "?"
			case "omitzero":
				name += "~"
			}
		}
		all = append(all, outer+name+" "+spell(field.Type))
		describe(field.Type, lines)
	}
	return all
}

// spell writes a type with the two last elements of its package's path: `core/v1.Pod`.
func spell(t reflect.Type) string {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Pointer:
			return "*" + spell(t.Elem())
		case reflect.Slice:
			return "[]" + spell(t.Elem())
		case reflect.Map:
			return "map[" + spell(t.Key()) + "]" + spell(t.Elem())
		}
		return t.String()
	}
	if t.PkgPath() == "" {
		return t.Name()
	}
	elements := strings.Split(t.PkgPath(), "/")
	return strings.Join(elements[max(0, len(elements)-2):], "/") + "." + t.Name()
}
