package clients

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// started is a manager that runs; end has it step down.
func started(t *testing.T, kind Kind) (manager ctrl.Manager, copier *Copier, end func()) {
	t.Helper()
	config, _ := connect(t)
	manager, copier, err := NewManager(config, *namespace, kind)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running errgroup.Group
	running.Go(func() error { return manager.Start(ctx) })
	end = func() {
		cancel()
		if err := running.Wait(); err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	}
	t.Cleanup(end)
	return manager, copier, end
}

func TestControllerRuntime(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	const count = 8
	for _, kind := range Kinds(domain) {
		t.Run(kind.Name, func(t *testing.T) {
			first, leading, stepDown := started(t, kind)
			<-first.Elected()
			second, waiting, _ := started(t, kind)
			config, _ := connect(t)
			direct, err := client.New(config, client.Options{})
			must(t, err)
			each := func(act func(name string) error) {
				t.Helper()
				var acting errgroup.Group
				for at := range count {
					acting.Go(func() error { return act(fmt.Sprintf("copied%d", at)) })
				}
				must(t, acting.Wait())
			}
			setText := func(name, text string) error {
				object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{kind.text: text}}}
				object.SetGroupVersionKind(kind.GVK())
				object.SetNamespace(*namespace)
				object.SetName(name)
				body, err := object.MarshalJSON()
				if err != nil {
					return err
				}
				return direct.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", body))
			}
			copied := func(manager ctrl.Manager, text string) {
				t.Helper()
				eventually(t, "every object is copied", func(ctx context.Context) error {
					list := &unstructured.UnstructuredList{}
					list.SetGroupVersionKind(kind.GVK())
					err := manager.GetClient().List(ctx, list, client.MatchingFields{textIndex: text}, client.MatchingLabels{doneLabel: text})
					if err == nil && len(list.Items) != count {
						err = fmt.Errorf("%d objects are labelled", len(list.Items))
					}
					for at := range count {
						var configMap corev1.ConfigMap
						key := client.ObjectKey{Namespace: *namespace, Name: fmt.Sprintf("copy-copied%d", at)}
						if err == nil {
							err = direct.Get(ctx, key, &configMap)
						}
						if err == nil && configMap.Data["text"] != text {
							err = fmt.Errorf("%s says %q", key.Name, configMap.Data["text"])
						}
					}
					return err
				})
			}

			each(func(name string) error {
				object := kind.New(*namespace, name, nil)
				object.Object["spec"].(map[string]any)[kind.text] = kind.value
				return direct.Create(t.Context(), object)
			})
			copied(first, kind.value)
			must(t, direct.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: *namespace, Name: "copy-copied0"}}))
			copied(first, kind.value) // owned, and so made again

			if waiting.Turns.Load() > 0 || leading.Turns.Load() == 0 {
				t.Errorf("the leader had %d turns, the other %d", leading.Turns.Load(), waiting.Turns.Load())
			}
			stepDown()
			each(func(name string) error { return setText(name, kind.other) }) // while nobody leads
			<-second.Elected()
			copied(second, kind.other)

			each(func(name string) error {
				object := kind.New(*namespace, name, nil)
				return direct.Delete(t.Context(), object)
			})
			eventually(t, "what was owned goes", func(ctx context.Context) error {
				for at := range count {
					var configMap corev1.ConfigMap
					if err := direct.Get(ctx, client.ObjectKey{Namespace: *namespace, Name: fmt.Sprintf("copy-copied%d", at)}, &configMap); !apierrors.IsNotFound(err) {
						return fmt.Errorf("copy-copied%d: %v", at, err)
					}
				}
				return nil
			})
			t.Logf("%d turns of the first, %d of the second", leading.Turns.Load(), waiting.Turns.Load())
			empty(t, dynamicClient(t).Resource(kind.Resource).Namespace(*namespace))
		})
	}
}
