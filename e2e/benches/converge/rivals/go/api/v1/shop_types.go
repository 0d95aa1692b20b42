package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ShopState says whether a shop is open.
type ShopState string

const (
	ShopOpening ShopState = "Opening"
	ShopOpen    ShopState = "Open"
)

// ShopSpec defines the desired state of Shop.
type ShopSpec struct {
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
	Greeting string `json:"greeting"`
}

// ShopStatus defines the observed state of Shop.
type ShopStatus struct {
	// +optional
	State ShopState `json:"state,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Shop is the Schema for the shops API.
type Shop struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec ShopSpec `json:"spec"`
	// +optional
	Status ShopStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ShopList contains a list of Shop.
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Shop `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Shop{}, &ShopList{})
		return nil
	})
}
