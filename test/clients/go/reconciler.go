package clients

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	textIndex = "text"
	doneLabel = "copied"
)

// Copier keeps a ConfigMap beside each object of a kind, with what its text field says, and labels the object.
type Copier struct {
	client.Client
	kind Kind
	// Turns that it has had.
	Turns atomic.Int64
}

// Reconcile reads from the cache, and writes only what is not as it should be.
func (copier *Copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	copier.Turns.Add(1)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(copier.kind.GVK())
	if err := copier.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	text := textOf(object, copier.kind)
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: "copy-" + request.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, copier.Client, copied, func() error {
		copied.Data = map[string]string{"text": text}
		return controllerutil.SetControllerReference(object, copied, copier.Scheme())
	})
	if err != nil || object.GetLabels()[doneLabel] == text {
		return ctrl.Result{}, err
	}
	// Fails upon an outdated cache, and the controller tries again.
	patch := client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{})
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[doneLabel] = text
	object.SetLabels(labels)
	return ctrl.Result{}, copier.Patch(ctx, object, patch)
}

func textOf(object *unstructured.Unstructured, kind Kind) string {
	text, _, _ := unstructured.NestedString(object.Object, "spec", kind.text)
	return text
}

// NewManager has a cache of one namespace, which tells of ConfigMaps and gives them out (two caches would tell sooner than they know), an index of the text field, and a Copier that runs while it leads.
func NewManager(restConfig *rest.Config, namespace string, kind Kind) (ctrl.Manager, *Copier, error) {
	// Long, so that a slow machine takes no lease away; who steps down releases it at once.
	lease, renew, try := 60*time.Second, 40*time.Second, 200*time.Millisecond
	manyOfAName := true
	manager, err := ctrl.NewManager(restConfig, ctrl.Options{
		Metrics:                       server.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Client:                        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Controller:                    config.Controller{SkipNameValidation: &manyOfAName},
		LeaderElection:                true,
		LeaderElectionID:              "copier-" + kind.Resource.Resource,
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &try,
	})
	if err != nil {
		return nil, nil, err
	}
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(kind.GVK())
	err = manager.GetFieldIndexer().IndexField(context.Background(), of, textIndex, func(object client.Object) []string {
		return []string{textOf(object.(*unstructured.Unstructured), kind)}
	})
	if err != nil {
		return nil, nil, err
	}
	copier := &Copier{Client: manager.GetClient(), kind: kind}
	return manager, copier, ctrl.NewControllerManagedBy(manager).For(of).Owns(&corev1.ConfigMap{}).Complete(copier)
}
