// The conversion that krator's benchmark measures, on controller-runtime: a hub and a spoke, as kubebuilder scaffolds them.
package main

import (
	"crypto/tls"
	"flag"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

func main() {
	port := flag.Int("port", 9443, "The port on which conversions are answered.")
	certificates := flag.String("certificates", "", "The folder of tls.crt and tls.key.")
	http2 := flag.Bool("http2", true, "Speak HTTP/2, as controller-runtime does and what kubebuilder scaffolds does not.")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	group := schema.GroupVersion{Group: "bench.krator.dev", Version: "v1"}
	scheme.AddKnownTypeWithName(group.WithKind("Depot"), &Depot{})
	group.Version = "v1beta1"
	scheme.AddKnownTypeWithName(group.WithKind("Depot"), &OldDepot{})

	options := webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates}
	if !*http2 {
		options.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	server := webhook.NewServer(options)
	server.Register("/convert", conversion.NewWebhookHandler(scheme, conversion.NewRegistry()))
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "Failed to serve")
	}
}
