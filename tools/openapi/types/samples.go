package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// printSamples prints an object of each root with a value in every field, in protobuf and in JSON: tests of the server
// read the one and expect the other.
func printSamples() {
	for _, root := range messages() {
		f := &filler{root: reflect.TypeOf(root)}
		object := reflect.New(f.root)
		f.fill(object.Elem(), 0)
		name := spell(f.root)
		raw, err := object.Interface().(interface{ Marshal() ([]byte, error) }).Marshal()
		check(err)
		text, err := json.Marshal(object.Interface())
		check(err)
		fmt.Println(name, base64.StdEncoding.EncodeToString(raw), string(text))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type filler struct {
	root reflect.Type
	last int64
}

func (f *filler) next() int64 {
	f.last++
	return f.last
}

func (f *filler) text() string {
	return strconv.FormatInt(1000+f.next(), 36)
}

func (f *filler) fill(value reflect.Value, depth int) {
	if f.special(value, depth) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), depth)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		f.fill(value.Index(0), depth)
		f.fill(value.Index(1), depth+10)
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		f.fill(key, depth)
		f.fill(element, depth)
		value.SetMapIndex(key, element)
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Field(i)
			if value.Type().Field(i).Name == "TypeMeta" || !field.CanSet() {
				continue
			}
			// Second elements of lists and schemas within schemas have scalars only, so that there is an end.
			if depth >= 10 && (field.Kind() == reflect.Struct || field.Kind() == reflect.Pointer || field.Kind() == reflect.Slice || field.Kind() == reflect.Map) {
				continue
			}
			f.fill(field, depth+1)
		}
	case reflect.String:
		value.SetString(f.text())
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(f.next() - 300)
	case reflect.Uint8:
		value.SetUint(uint64(f.next() % 256))
	case reflect.Float64:
		value.SetFloat(float64(f.next()) + 0.5)
	default:
		panic("cannot fill " + value.Type().String())
	}
}

// special fills the types that have a form of their own in JSON. The parts that many kinds share have few fields outside of
// the kind that they are mainly of.
func (f *filler) special(value reflect.Value, depth int) bool {
	at := time.Unix(1_700_000_000+f.next(), 123_456_000).UTC()
	var filled any
	switch value.Interface().(type) {
	case resource.Quantity:
		filled = *resource.NewQuantity(f.next(), resource.DecimalSI)
	case metav1.Time:
		filled = metav1.NewTime(at)
	case metav1.MicroTime:
		filled = metav1.NewMicroTime(at)
	case intstr.IntOrString:
		filled = intstr.FromInt32(-int32(f.next()))
		if f.last%2 == 0 {
			filled = intstr.FromString(f.text())
		}
	case runtime.RawExtension:
		filled = runtime.RawExtension{Raw: []byte(`{"raw":[1,{}]}`)}
	case metav1.FieldsV1:
		filled = *metav1.NewFieldsV1(`{"f:a":{}}`)
	case apiextensionsv1.JSON:
		filled = apiextensionsv1.JSON{Raw: []byte(`{"any":[true,null]}`)}
	case apiextensionsv1.JSONSchemaPropsOrArray:
		schemas := []apiextensionsv1.JSONSchemaProps{{ID: f.text()}, {ID: f.text()}}
		filled = apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: schemas}
		if depth%2 == 0 {
			filled = apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemas[0]}
		}
	case apiextensionsv1.JSONSchemaPropsOrBool:
		filled = apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}
		if f.next()%2 == 0 {
			filled = apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{ID: f.text()}}
		}
	case apiextensionsv1.JSONSchemaPropsOrStringArray:
		filled = apiextensionsv1.JSONSchemaPropsOrStringArray{Property: []string{f.text(), f.text()}}
	case apiextensionsv1.JSONSchemaProps:
		if depth > 4 {
			filled = apiextensionsv1.JSONSchemaProps{ID: f.text()}
		}
	case corev1.PodTemplateSpec:
		filled = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: f.text()}}
	case metav1.ObjectMeta:
		if depth > 1 || f.root != reflect.TypeFor[corev1.Namespace]() {
			filled = metav1.ObjectMeta{Name: f.text()}
		}
	}
	if filled != nil {
		value.Set(reflect.ValueOf(filled))
	}
	return filled != nil
}
