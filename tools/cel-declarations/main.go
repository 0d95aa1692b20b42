// Command cel-declarations prints the functions and constants that CEL rules of a CustomResourceDefinition may use, as
// the API server of the pinned version declares them. Its output is a table of krator-cel:
//
//	cd tools && go run ./cel-declarations > ../crates/krator-cel/src/check/declarations.txt
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

func main() {
	// A rule's environment also knows the types of its schema, and with them more names of types.
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		DeclTypes:         []*apiservercel.DeclType{apiservercel.NewObjectType("self", nil)},
	})
	if err != nil {
		panic(err)
	}
	env := set.NewExpressionsEnv()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Functions and constants of CEL rules, drawn from the API server by tools/cel-declarations. Do not edit.")
	fmt.Fprintln(out, "# const NAME TYPE")
	fmt.Fprintln(out, "# fn NAME | OVERLOAD | receiver or global | TYPE PARAMETERS | OPERANDS | RESULT")

	constants := map[string]string{}
	for _, variable := range env.Variables() {
		constants[variable.Name()] = text(variable.Type())
	}
	candidates := []string{"any", "bool", "bytes", "double", "duration", "dyn", "error", "google.protobuf.Duration",
		"google.protobuf.Timestamp", "int", "list", "map", "null_type",
		"optional_type", "quantity", "string", "timestamp", "type", "uint"}
	for _, library := range library.KnownLibraries() {
		for _, t := range library.Types() {
			candidates = append(candidates, t.TypeName())
		}
	}
	for _, name := range candidates {
		if checked, issues := env.Compile(name); issues.Err() == nil {
			constants[name] = text(checked.OutputType())
		}
	}
	names := make([]string, 0, len(constants))
	for name := range constants {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(out, "const %s | %s\n", name, constants[name])
	}

	functions := env.Functions()
	names = names[:0]
	for name := range functions {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		// The order of the overloads matters: the type checker tries them in this order.
		for _, overload := range functions[name].OverloadDecls() {
			style := "global"
			if overload.IsMemberFunction() {
				style = "receiver"
			}
			operands := make([]string, 0, len(overload.ArgTypes()))
			for _, operand := range overload.ArgTypes() {
				operands = append(operands, text(operand))
			}
			// They come in the order of a map, which differs from run to run.
			parameters := overload.TypeParams()
			sort.Strings(parameters)
			fmt.Fprintf(out, "fn %s | %s | %s | %s | %s | %s\n", name, overload.ID(), style,
				strings.Join(parameters, " "), strings.Join(operands, "; "), text(overload.ResultType()))
		}
	}
}

// text writes a type so that parameters, wrappers and types of types can be told apart.
func text(t *types.Type) string {
	name := t.TypeName()
	switch t.Kind() {
	case types.TypeParamKind:
		return "$" + name
	case types.NullTypeKind:
		return "null"
	}
	switch t.String() {
	case "wrapper(bool)", "wrapper(bytes)", "wrapper(double)", "wrapper(int)", "wrapper(string)", "wrapper(uint)":
		return t.String()
	}
	if len(t.Parameters()) == 0 {
		return strings.TrimPrefix(name, "google.protobuf.")
	}
	parameters := make([]string, 0, len(t.Parameters()))
	for _, parameter := range t.Parameters() {
		parameters = append(parameters, text(parameter))
	}
	return name + "(" + strings.Join(parameters, ", ") + ")"
}
