package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	benchv1 "bench.krator.dev/rivals/api/v1"
)

// ShopReconciler gives each shop a ConfigMap, a Service and a Deployment, and says when the Deployment is ready.
type ShopReconciler struct {
	client.Client
	Scheme *runtime.Scheme
	// Tuned makes it write patches instead of whole objects, and ignore changes of a status.
	Tuned bool
}

// +kubebuilder:rbac:groups=bench.krator.dev,resources=shops,verbs=get;list;watch
// +kubebuilder:rbac:groups=bench.krator.dev,resources=shops/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=bench.krator.dev,resources=shops/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch

// Reconcile makes the children what the spec asks for, and writes a status where it says something new.
func (r *ShopReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	shop := &benchv1.Shop{}
	if err := r.Get(ctx, req.NamespacedName, shop); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment, err := r.ensureChildren(ctx, shop)
	if err != nil {
		return ctrl.Result{}, err
	}
	state, message := benchv1.ShopOpening, "Waits for its Deployment."
	if isRolledOut(deployment) {
		state, message = benchv1.ShopOpen, "Customers may come in."
	}
	if shop.Status.State == state && shop.Status.ObservedGeneration == shop.Generation {
		return ctrl.Result{}, nil
	}

	base := shop.DeepCopy()
	shop.Status.State = state
	shop.Status.Message = message
	shop.Status.ObservedGeneration = shop.Generation
	setConditions(&shop.Status.Conditions, shop.Generation, string(state), message, state == benchv1.ShopOpen)
	if err := writeStatus(ctx, r.Client, r.Tuned, shop, base); err != nil {
		return ctrl.Result{}, err
	}
	logf.FromContext(ctx).Info("Entered", "state", state)
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *ShopReconciler) SetupWithManager(mgr ctrl.Manager) error {
	var options []builder.ForOption
	if r.Tuned {
		// The statuses that it writes itself need no reconciliation.
		options = append(options, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&benchv1.Shop{}, options...).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		Named("shop").
		Complete(r)
}
