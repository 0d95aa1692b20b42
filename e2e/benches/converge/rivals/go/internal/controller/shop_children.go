package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	benchv1 "bench.krator.dev/rivals/api/v1"
)

// ensureChildren makes the children what the spec asks for, and returns the Deployment. CreateOrUpdate compares with the cache, so
// nothing is sent where nothing differs.
func (r *ShopReconciler) ensureChildren(ctx context.Context, shop *benchv1.Shop) (*appsv1.Deployment, error) {
	meta := metav1.ObjectMeta{Name: shop.Name, Namespace: shop.Namespace}

	config := &corev1.ConfigMap{ObjectMeta: meta}
	if err := r.ensure(ctx, shop, config, func() {
		config.Data = map[string]string{"GREETING": shop.Spec.Greeting}
	}); err != nil {
		return nil, err
	}

	service := &corev1.Service{ObjectMeta: meta}
	if err := r.ensure(ctx, shop, service, func() {
		service.Spec.ClusterIP = corev1.ClusterIPNone
		service.Spec.Selector = map[string]string{"shop": shop.Name}
		service.Spec.Ports = []corev1.ServicePort{{
			Name:       "http",
			Port:       80,
			Protocol:   corev1.ProtocolTCP,
			TargetPort: intstr.FromInt32(8080),
		}}
	}); err != nil {
		return nil, err
	}

	deployment := &appsv1.Deployment{ObjectMeta: meta}
	err := r.ensure(ctx, shop, deployment, func() { mutateDeployment(deployment, shop) })
	return deployment, err
}

// ensure creates or updates one child. An object that the cache does not have yet and that exists already is one that an earlier
// reconciliation has created; the event that brings it into the cache starts another one.
func (r *ShopReconciler) ensure(ctx context.Context, shop *benchv1.Shop, child client.Object, mutate func()) error {
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		mutate()
		labels := child.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["app.kubernetes.io/managed-by"] = "shops"
		child.SetLabels(labels)
		return controllerutil.SetControllerReference(shop, child, r.Scheme)
	})
	return client.IgnoreAlreadyExists(err)
}

// mutateDeployment sets the fields that the operator decides. The others keep the defaults that the server has given them.
func mutateDeployment(deployment *appsv1.Deployment, shop *benchv1.Shop) {
	labels := map[string]string{"shop": shop.Name}
	spec := &deployment.Spec
	spec.Replicas = &shop.Spec.Replicas
	spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	spec.Template.Labels = labels
	if len(spec.Template.Spec.Containers) != 1 {
		spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	container := &spec.Template.Spec.Containers[0]
	container.Name = "shop"
	container.Image = shop.Spec.Image
	container.EnvFrom = []corev1.EnvFromSource{{
		ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: shop.Name},
		},
	}}
	container.Ports = []corev1.ContainerPort{{ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
}

// isRolledOut says whether the Deployment has become what its spec asks for.
func isRolledOut(deployment *appsv1.Deployment) bool {
	status := &deployment.Status
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	return status.ObservedGeneration == deployment.Generation &&
		status.UpdatedReplicas == wanted &&
		status.AvailableReplicas == wanted
}
