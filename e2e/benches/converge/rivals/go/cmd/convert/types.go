package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Depot is the newest version, the hub.
type Depot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DepotSpec             `json:"spec,omitempty"`
	Status *runtime.RawExtension `json:"status,omitempty"`
}

// DepotSpec is the spec of a Depot.
type DepotSpec struct {
	Replicas int64             `json:"replicas"`
	Hosts    []string          `json:"hosts,omitempty"`
	Mode     string            `json:"mode"`
	TLS      bool              `json:"tls"`
	Timeout  metav1.Duration   `json:"timeout"`
	Labels   map[string]string `json:"labels,omitempty"`
	Routes   []Route           `json:"routes,omitempty"`
}

// Route is a route of a Depot.
type Route struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Weight int64  `json:"weight"`
}

// OldDepot is the older version, a spoke.
type OldDepot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OldDepotSpec          `json:"spec,omitempty"`
	Status *runtime.RawExtension `json:"status,omitempty"`
}

// OldDepotSpec is the spec of an OldDepot.
type OldDepotSpec struct {
	Size    int64             `json:"size"`
	Host    *string           `json:"host,omitempty"`
	Mode    string            `json:"mode"`
	Timeout int64             `json:"timeout"`
	Legacy  *string           `json:"legacy,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Routes  []OldRoute        `json:"routes,omitempty"`
}

// OldRoute is a route of an OldDepot.
type OldRoute struct {
	Name   string `json:"name"`
	Prefix string `json:"prefix"`
	Weight int64  `json:"weight"`
}

// Hub marks the version through which conversions go.
func (*Depot) Hub() {}

// DeepCopyObject is what the scheme requires; no conversion copies an object.
func (d *Depot) DeepCopyObject() runtime.Object { c := *d; return &c }

// DeepCopyObject is what the scheme requires; no conversion copies an object.
func (d *OldDepot) DeepCopyObject() runtime.Object { c := *d; return &c }
