package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// The annotations in which a version has what it cannot hold. Cluster API keeps the whole newer object in such a one; the
// newer version here keeps only the field that it lacks.
const (
	ofHub   = "bench.krator.dev/conversion-data"
	ofSpoke = "bench.krator.dev/legacy"
)

// ConvertTo makes a Depot of the older version.
func (d *OldDepot) ConvertTo(raw conversion.Hub) error {
	hub := raw.(*Depot)
	hub.ObjectMeta, hub.Status = d.ObjectMeta, d.Status
	hub.Spec = DepotSpec{
		Replicas: d.Spec.Size,
		Mode:     map[string]string{"fast": "Turbo", "slow": "Eco"}[d.Spec.Mode],
		Timeout:  metav1.Duration{Duration: time.Duration(d.Spec.Timeout) * time.Second},
		Labels:   d.Spec.Labels,
	}
	if d.Spec.Host != nil {
		hub.Spec.Hosts = []string{*d.Spec.Host}
	}
	for _, route := range d.Spec.Routes {
		hub.Spec.Routes = append(hub.Spec.Routes, Route{Name: route.Name, Path: route.Prefix, Weight: route.Weight})
	}
	restored := DepotSpec{}
	ok, err := take(&hub.ObjectMeta, ofHub, &restored)
	if err != nil {
		return err
	}
	if ok {
		hub.Spec.TLS = restored.TLS
		if len(restored.Hosts) > 0 && d.Spec.Host != nil {
			hub.Spec.Hosts = append(hub.Spec.Hosts, restored.Hosts[1:]...)
		}
		if d.Spec.Mode == "slow" && restored.Mode != "Turbo" {
			hub.Spec.Mode = restored.Mode
		}
		if int64(restored.Timeout.Seconds()) == d.Spec.Timeout {
			hub.Spec.Timeout = restored.Timeout
		}
	}
	if d.Spec.Legacy != nil {
		return put(&hub.ObjectMeta, ofSpoke, d.Spec.Legacy)
	}
	return nil
}

// ConvertFrom makes an object of the older version of a Depot.
func (d *OldDepot) ConvertFrom(raw conversion.Hub) error {
	hub := raw.(*Depot)
	d.ObjectMeta, d.Status = hub.ObjectMeta, hub.Status
	d.Spec = OldDepotSpec{
		Size:    hub.Spec.Replicas,
		Mode:    map[string]string{"Turbo": "fast", "Eco": "slow", "Idle": "slow"}[hub.Spec.Mode],
		Timeout: int64(hub.Spec.Timeout.Seconds()),
		Labels:  hub.Spec.Labels,
	}
	if len(hub.Spec.Hosts) > 0 {
		d.Spec.Host = &hub.Spec.Hosts[0]
	}
	for _, route := range hub.Spec.Routes {
		d.Spec.Routes = append(d.Spec.Routes, OldRoute{Name: route.Name, Prefix: route.Path, Weight: route.Weight})
	}
	if _, err := take(&d.ObjectMeta, ofSpoke, &d.Spec.Legacy); err != nil {
		return err
	}
	back := &Depot{}
	if err := d.ConvertTo(back); err != nil || reflect.DeepEqual(back.Spec, hub.Spec) {
		return err
	}
	return put(&d.ObjectMeta, ofHub, hub.Spec)
}

// take reads an annotation into a value, and removes it, as UnmarshalData of Cluster API does.
func take(meta *metav1.ObjectMeta, name string, into any) (bool, error) {
	text, ok := meta.Annotations[name]
	if !ok {
		return false, nil
	}
	meta.Annotations = maps.Clone(meta.Annotations)
	delete(meta.Annotations, name)
	return true, json.Unmarshal([]byte(text), into)
}

// put writes a value into an annotation, as MarshalData of Cluster API does.
func put(meta *metav1.ObjectMeta, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if meta.Annotations = maps.Clone(meta.Annotations); meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[name] = string(text)
	return nil
}
