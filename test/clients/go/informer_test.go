package clients

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

const resync = time.Second

// follow starts an informer of a kind in the namespace, and waits for its first state.
func follow(t *testing.T, client dynamic.Interface, kind Kind, tweak dynamicinformer.TweakListOptionsFunc) *Follower {
	t.Helper()
	follower := NewFollower()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, resync, *namespace, tweak)
	informer := factory.ForResource(kind.Resource).Informer()
	registration, err := informer.AddEventHandler(follower)
	must(t, err)
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown) // the context is done by then
	if !cache.WaitForCacheSync(t.Context().Done(), registration.HasSynced) {
		t.Fatal("the informer never synced")
	}
	return follower
}

// isFaultless fails if the informer was told anything that does not follow.
func isFaultless(t *testing.T, follower *Follower) {
	t.Helper()
	if faults, _ := follower.Faults(); len(faults) > 0 {
		t.Errorf("told what does not follow:\n%s", strings.Join(faults, "\n"))
	}
}

// converges waits until the informer holds what the server has.
func converges(t *testing.T, client dynamic.ResourceInterface, follower *Follower, options metav1.ListOptions) {
	t.Helper()
	eventually(t, "the informer converges", func(ctx context.Context) error {
		stored, err := versions(ctx, client, options)
		if err != nil {
			return err
		}
		return sameVersions(follower.Held(), stored)
	})
}

// write has a worker make, change and remove objects; one in three stays away.
func write(ctx context.Context, client dynamic.ResourceInterface, kind Kind, worker, count int) error {
	for turn := range count {
		name := fmt.Sprintf("w%dn%d", worker, turn)
		if _, err := client.Create(ctx, kind.New(*namespace, name, map[string]string{"worker": fmt.Sprint(worker)}), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create %s: %w", name, err)
		}
		if _, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"yes"}}}`), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("patch %s: %w", name, err)
		}
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			object, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := unstructured.SetNestedField(object.Object, kind.other, "spec", kind.text); err != nil {
				return err
			}
			_, err = client.Update(ctx, object, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("update %s: %w", name, err)
		}
		if turn%3 == 0 {
			if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return fmt.Errorf("delete %s: %w", name, err)
			}
		}
	}
	return nil
}

// The environment says in which way the reflector begins: with a list, or with a watch that streams one.
func TestInformerConverges(t *testing.T) {
	const workers, count = 4, 6
	for _, kind := range Kinds(domain) {
		t.Run(kind.Name, func(t *testing.T) {
			config, requests := connect(t)
			reader, err := dynamic.NewForConfig(config)
			must(t, err)
			client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
			for _, name := range []string{"early1", "early2"} {
				_, err := client.Create(t.Context(), kind.New(*namespace, name, nil), metav1.CreateOptions{})
				must(t, err)
			}
			early := follow(t, reader, kind, nil)
			var writing errgroup.Group
			for worker := range workers {
				writing.Go(func() error { return write(t.Context(), client, kind, worker, count) })
			}
			late := follow(t, dynamicClient(t), kind, nil) // in the middle of it
			must(t, writing.Wait())

			want := 2 + workers*count*2/3
			eventually(t, "deleted objects go", func(ctx context.Context) error {
				stored, err := versions(ctx, client, metav1.ListOptions{})
				if err == nil && len(stored) != want {
					err = fmt.Errorf("%d objects, not %d", len(stored), want)
				}
				return err
			})
			for _, follower := range []*Follower{early, late} {
				converges(t, client, follower, metav1.ListOptions{})
				eventually(t, "resync tells of objects again", func(context.Context) error {
					if _, resyncs := follower.Faults(); resyncs < want {
						return fmt.Errorf("%d times", resyncs)
					}
					return nil
				})
				isFaultless(t, follower)
			}
			seen := early.Seen()
			for worker := range workers {
				for turn := range count {
					name := fmt.Sprintf("w%dn%d", worker, turn)
					if !slices.Contains(seen, "add "+name) || !slices.Contains(seen, "update "+name) || slices.Contains(seen, "delete "+name) != (turn%3 == 0) {
						t.Errorf("of %s was not told what happened", name)
					}
				}
			}

			streams := clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient)
			first := requests.Of(kind.Resource.Resource)[0]
			if isWatch := first.Query.Get("watch") == "true"; isWatch != streams || (first.Query.Get("sendInitialEvents") == "true") != streams {
				t.Errorf("the reflector began with %s %s", first.Path, first.Query.Encode())
			}
			t.Logf("%d events, began with %s", len(seen), first.Query.Encode())
		})
	}
}

func TestInformerSelectors(t *testing.T) {
	for name, options := range map[string]metav1.ListOptions{
		"label":        {LabelSelector: "color in (red,green)"},
		"name":         {FieldSelector: "metadata.name=moves"},
		"both":         {LabelSelector: "color=red,!gone", FieldSelector: "metadata.name=moves,metadata.namespace=" + *namespace},
		"another name": {FieldSelector: "metadata.name!=moves"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, kind Kind) []string {
				client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
				create := func(name, color string) {
					t.Helper()
					_, err := client.Create(t.Context(), kind.New(*namespace, name, map[string]string{"color": color}), metav1.CreateOptions{})
					must(t, err)
				}
				create("there", "red")
				follower := follow(t, dynamicClient(t), kind, func(list *metav1.ListOptions) {
					list.LabelSelector, list.FieldSelector = options.LabelSelector, options.FieldSelector
				})
				create("moves", "red")
				for _, color := range []string{"blue", "red", "green"} {
					_, err := client.Patch(t.Context(), "moves", types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"color":%q}}}`, color), metav1.PatchOptions{})
					must(t, err)
				}
				converges(t, client, follower, options)
				must(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
				eventually(t, "all go", func(ctx context.Context) error {
					stored, err := versions(ctx, client, metav1.ListOptions{})
					if err == nil && len(stored)+len(follower.Held()) > 0 {
						err = errors.New("some are there")
					}
					return err
				})
				isFaultless(t, follower)
				// Ours is changed by its loop as well.
				return slices.DeleteFunc(follower.Seen(), func(event string) bool { return strings.HasPrefix(event, "update") })
			})
		})
	}
}
