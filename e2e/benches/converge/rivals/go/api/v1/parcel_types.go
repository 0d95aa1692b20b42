package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ParcelState is where a parcel is on its way.
type ParcelState string

const (
	ParcelOrdered   ParcelState = "Ordered"
	ParcelPacked    ParcelState = "Packed"
	ParcelSorted    ParcelState = "Sorted"
	ParcelLoaded    ParcelState = "Loaded"
	ParcelDelivered ParcelState = "Delivered"
)

// ParcelSpec defines the desired state of Parcel.
type ParcelSpec struct {
	Sender    string  `json:"sender"`
	Recipient string  `json:"recipient"`
	Weight    float64 `json:"weight"`
	Fragile   bool    `json:"fragile"`
}

// ParcelStatus defines the observed state of Parcel.
type ParcelStatus struct {
	// +optional
	State ParcelState `json:"state,omitempty"`
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

// Parcel is the Schema for the parcels API.
type Parcel struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec ParcelSpec `json:"spec"`
	// +optional
	Status ParcelStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ParcelList contains a list of Parcel.
type ParcelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Parcel `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(SchemeGroupVersion, &Parcel{}, &ParcelList{})
		return nil
	})
}
