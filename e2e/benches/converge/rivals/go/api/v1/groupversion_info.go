// Package v1 contains the kinds of the API group bench.krator.dev, laid out as kubebuilder scaffolds them. Their CRDs are
// krator's, so the types have no markers for schemas.
// +kubebuilder:object:generate=true
// +groupName=bench.krator.dev
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// SchemeGroupVersion is the group version of these objects.
	SchemeGroupVersion = schema.GroupVersion{Group: "bench.krator.dev", Version: "v1"}

	// SchemeBuilder is used to add go types to the GroupVersionKind scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
		metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
		return nil
	})

	// AddToScheme adds the types in this group-version to the given scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
