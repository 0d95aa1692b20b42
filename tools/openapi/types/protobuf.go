package main

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// printMessages prints the same types as messages of protobuf: the numbers are in the tags of the Go structs, beside the
// names that JSON has.
func printMessages() {
	lines := map[string]string{}
	for _, root := range messages() {
		message(reflect.TypeOf(root), lines)
	}
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("# The messages of protobuf of the kinds served, drawn from the sources of Kubernetes by tools/openapi/types. Do not edit.")
	fmt.Println("# NAME: NUMBER FIELD TYPE; …  where []TYPE is repeated, {}TYPE a map from strings, items[]TYPE a message with a list as its")
	fmt.Println("# only field, and the field > a message whose fields are those of the outer one in JSON.")
	for _, name := range names {
		fmt.Println(name + lines[name])
	}
}

// messages are the roots that clients send in protobuf: all but definitions.
func messages() []any {
	return slices.DeleteFunc(slices.Clone(roots), func(root any) bool {
		return reflect.TypeOf(root) == reflect.TypeFor[apiextensions.CustomResourceDefinition]()
	})
}

// message adds the line of a struct and of all structs that it refers to. Types that read themselves from JSON have no
// line: the server knows them by their names.
func message(t reflect.Type, lines map[string]string) {
	name := spell(t)
	if _, known := lines[name]; known || reflect.PointerTo(t).Implements(unmarshaler) {
		return
	}
	lines[name] = ""
	var fields []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if field.Type.Name() == "TypeMeta" {
			// It is in the envelope.
			continue
		}
		if len(tag) < 2 {
			panic(name + "." + field.Name + " has no number")
		}
		json := strings.Split(field.Tag.Get("json"), ",")[0]
		if json == "" {
			json = ">"
		}
		fields = append(fields, tag[1]+" "+json+" "+wire(field.Type, lines))
	}
	lines[name] = ": " + strings.Join(fields, "; ")
}

// wire writes the type of a field.
func wire(t reflect.Type, lines map[string]string) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wire(t.Elem(), lines)
	case reflect.Map:
		element := wire(t.Elem(), lines)
		// A list cannot be the value of a map, so a named one is a message there.
		if t.Elem().Kind() == reflect.Slice && t.Elem().Name() != "" {
			element = "items" + element
		}
		return "{}" + element
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + wire(t.Elem(), lines)
	case reflect.Struct:
		message(t, lines)
		return spell(t)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	panic("no type of protobuf: " + t.String())
}
