// The operators that krator's benchmark measures, on controller-runtime: as kubebuilder scaffolds them and as its book goes on,
// and tuned.
package main

import (
	"flag"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	benchv1 "bench.krator.dev/rivals/api/v1"
	"bench.krator.dev/rivals/internal/controller"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(benchv1.AddToScheme(scheme))
}

func main() {
	var metricsAddr, probeAddr, workload string
	var tuned bool
	flag.StringVar(&metricsAddr, "metrics-bind-address", "0", "The address the metrics endpoint binds to, or 0 for none.")
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address the probe endpoint binds to.")
	flag.StringVar(&workload, "workload", "parcels", "Which operator to run: parcels or children.")
	flag.BoolVar(&tuned, "tuned", false, "Reconcile 32 objects at once, keep no managedFields and write patches.")
	opts := zap.Options{Development: true}
	opts.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))

	options := ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: metricsAddr},
		HealthProbeBindAddress: probeAddr,
	}
	if tuned {
		// By default, as the book leaves it, each controller reconciles one object at a time.
		options.Controller = config.Controller{MaxConcurrentReconciles: 32}
		// The managed fields are half of each object, and no code reads them.
		options.Cache = cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	}
	// GetConfigOrDie sets no limit on the requests per second (QPS = -1), unlike client-go, whose default is 5. So there is no
	// limit to raise in the tuned operator.
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		setupLog.Error(err, "Failed to start manager")
		os.Exit(1)
	}

	switch workload {
	case "parcels":
		// Without the variable, or with a wrong value, no step computes.
		rounds, _ := strconv.ParseUint(os.Getenv("PARCELS_COMPUTE"), 10, 64)
		err = (&controller.ParcelReconciler{
			Client: mgr.GetClient(),
			Tuned:  tuned,
			Rounds: rounds,
		}).SetupWithManager(mgr)
	case "children":
		err = (&controller.ShopReconciler{
			Client: mgr.GetClient(),
			Scheme: mgr.GetScheme(),
			Tuned:  tuned,
		}).SetupWithManager(mgr)
	default:
		setupLog.Info("There is no such workload", "workload", workload)
		os.Exit(2)
	}
	if err != nil {
		setupLog.Error(err, "Failed to create controller", "workload", workload)
		os.Exit(1)
	}

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to set up health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to set up ready check")
		os.Exit(1)
	}

	setupLog.Info("Starting manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "Failed to run manager")
		os.Exit(1)
	}
}
