// Package controller has the reconcilers of the operators that krator's benchmark measures.
package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// setConditions sets Ready, Reconciling and Stalled. The transition time of each changes only with its status.
func setConditions(conditions *[]metav1.Condition, generation int64, state, message string, ready bool) {
	for _, condition := range []struct {
		kind  string
		holds bool
	}{{"Ready", ready}, {"Reconciling", !ready}, {"Stalled", false}} {
		status := metav1.ConditionFalse
		if condition.holds {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type:               condition.kind,
			Status:             status,
			Reason:             state,
			Message:            message,
			ObservedGeneration: generation,
		})
	}
}

// writeStatus stores the status of an object that was read as base. As the book has it, the whole object is sent. The tuned
// operator sends a merge patch, which has only what differs.
func writeStatus(ctx context.Context, c client.Client, tuned bool, object, base client.Object) error {
	if tuned {
		return c.Status().Patch(ctx, object, client.MergeFrom(base))
	}
	return c.Status().Update(ctx, object)
}
