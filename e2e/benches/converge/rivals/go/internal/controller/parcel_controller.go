package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	benchv1 "bench.krator.dev/rivals/api/v1"
)

// ParcelReconciler takes a parcel one state further in each reconciliation. The status that it writes comes back on the
// watch, which starts the next one.
type ParcelReconciler struct {
	client.Client
	// Tuned makes it write patches instead of whole objects.
	Tuned bool
	// Rounds is how long the second step computes.
	Rounds uint64
}

// parcelMessages has the message of each state.
var parcelMessages = map[benchv1.ParcelState]string{
	benchv1.ParcelOrdered:   "Somebody wants it.",
	benchv1.ParcelPacked:    "In a box.",
	benchv1.ParcelSorted:    "On the right belt.",
	benchv1.ParcelLoaded:    "In the van.",
	benchv1.ParcelDelivered: "At the door.",
}

// parcelNext has the state that follows each other one, and the first state.
var parcelNext = map[benchv1.ParcelState]benchv1.ParcelState{
	"":                    benchv1.ParcelOrdered,
	benchv1.ParcelOrdered: benchv1.ParcelPacked,
	benchv1.ParcelPacked:  benchv1.ParcelSorted,
	benchv1.ParcelSorted:  benchv1.ParcelLoaded,
	benchv1.ParcelLoaded:  benchv1.ParcelDelivered,
}

// +kubebuilder:rbac:groups=bench.krator.dev,resources=parcels,verbs=get;list;watch
// +kubebuilder:rbac:groups=bench.krator.dev,resources=parcels/status,verbs=get;update;patch

// Reconcile enters the state that follows the stored one, if there is one.
func (r *ParcelReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	parcel := &benchv1.Parcel{}
	if err := r.Get(ctx, req.NamespacedName, parcel); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	state, ok := parcelNext[parcel.Status.State]
	if !ok {
		return ctrl.Result{}, nil
	}
	if state == benchv1.ParcelSorted {
		compute(r.Rounds)
	}

	base := parcel.DeepCopy()
	message := parcelMessages[state]
	parcel.Status.State = state
	parcel.Status.Message = message
	parcel.Status.ObservedGeneration = parcel.Generation
	ready := state == benchv1.ParcelDelivered
	setConditions(&parcel.Status.Conditions, parcel.Generation, string(state), message, ready)
	if err := writeStatus(ctx, r.Client, r.Tuned, parcel, base); err != nil {
		return ctrl.Result{}, err
	}
	logf.FromContext(ctx).Info("Entered", "state", state)
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *ParcelReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&benchv1.Parcel{}).
		Named("parcel").
		Complete(r)
}

// computed keeps the result of compute, so that the compiler cannot leave the work out.
var computed uint64

// compute does what the handler of krator's operator does, too.
func compute(rounds uint64) {
	sum := uint64(1)
	for round := range rounds {
		sum = sum*6364136223846793005 ^ round
	}
	computed = sum
}
