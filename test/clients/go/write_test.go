package clients

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

func TestDynamicClient(t *testing.T) {
	onBoth(t, func(t *testing.T, kind Kind) []string {
		client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
		var account Account
		say := account.Say
		fresh := kind.New(*namespace, "one", map[string]string{"a": "b"})
		live, err := client.Create(t.Context(), fresh, metav1.CreateOptions{FieldManager: "first"})
		must(t, err)
		say("create", live, err)
		say2(say, "create again")(client.Create(t.Context(), fresh, metav1.CreateOptions{}))
		say2(say, "create in a dry run")(client.Create(t.Context(), kind.New(*namespace, "two", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
		say2(say, "get what was not made")(client.Get(t.Context(), "two", metav1.GetOptions{}))

		wrong := kind.New(*namespace, "two", nil)
		wrong.Object["spec"].(map[string]any)[kind.text] = int64(7)
		say2(say, "create what is invalid")(client.Create(t.Context(), wrong, metav1.CreateOptions{}))
		unknown := kind.New(*namespace, "two", nil)
		unknown.Object["spec"].(map[string]any)["nope"] = true
		say2(say, "create with an unknown field")(client.Create(t.Context(), unknown, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}))

		changed := live.DeepCopy()
		must(t, unstructured.SetNestedField(changed.Object, kind.value, "spec", kind.text))
		changed.SetResourceVersion("1")
		say2(say, "update upon an old version")(client.Update(t.Context(), changed, metav1.UpdateOptions{}))
		changed.SetResourceVersion("")
		say2(say, "update")(client.Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "second"}))
		say2(say, "merge patch")(client.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":null,"c":"d"}}}`), metav1.PatchOptions{}))
		say2(say, "JSON patch")(client.Patch(t.Context(), "one", types.JSONPatchType, []byte(`[{"op":"test","path":"/metadata/labels/c","value":"d"},{"op":"remove","path":"/metadata/labels/c"}]`), metav1.PatchOptions{}))
		say2(say, "JSON patch in vain")(client.Patch(t.Context(), "one", types.JSONPatchType, []byte(`[{"op":"test","path":"/metadata/labels/c","value":"d"}]`), metav1.PatchOptions{}))
		say2(say, "strategic merge patch")(client.Patch(t.Context(), "one", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{}))
		say2(say, "delete another uid")(nil, client.Delete(t.Context(), "one", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")}))

		for turn := range 7 {
			_, err := client.Create(t.Context(), kind.New(*namespace, fmt.Sprintf("page%d", turn), map[string]string{"paged": "yes"}), metav1.CreateOptions{})
			must(t, err)
		}
		pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		})
		pages.PageSize = 3
		must(t, pages.EachListItem(t.Context(), metav1.ListOptions{LabelSelector: "paged"}, func(item runtime.Object) error {
			say("page", item.(*unstructured.Unstructured), nil)
			return nil
		}))
		say2(say, "delete")(nil, client.Delete(t.Context(), "one", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(live.GetUID()))}))
		say2(say, "delete a collection")(nil, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "paged"}))
		empty(t, client)
		say2(say, "get what is gone")(client.Get(t.Context(), "one", metav1.GetOptions{}))
		return account
	})
}

func TestServerSideApply(t *testing.T) {
	onBoth(t, func(t *testing.T, kind Kind) []string {
		client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
		var account Account
		apply := func(what, manager, value string, labels map[string]string, force bool) {
			t.Helper()
			wanted := kind.New(*namespace, "applied", labels)
			if value != "" {
				must(t, unstructured.SetNestedField(wanted.Object, value, "spec", kind.text))
			}
			live, err := client.Apply(t.Context(), "applied", wanted, metav1.ApplyOptions{FieldManager: manager, Force: force})
			if err != nil && !apierrors.IsConflict(err) {
				t.Fatalf("%s: %v", what, err)
			}
			account.Say(what, live, err)
		}
		apply("first apply", "first", kind.value, map[string]string{"a": "1"}, false)
		apply("the same again", "first", kind.value, map[string]string{"a": "1"}, false)
		apply("another manager shares a value", "second", kind.value, map[string]string{"b": "1"}, false)
		apply("a shared value is not changed", "second", kind.other, map[string]string{"a": "2"}, false)
		apply("by force it is", "second", kind.other, map[string]string{"a": "2"}, true)
		apply("who lost it may leave it", "first", "", nil, false)
		apply("what nobody wants goes", "second", "", nil, false)
		status := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Applied", "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z",
		}}}}}
		status.SetGroupVersionKind(kind.GVK())
		status.SetName("applied")
		live, err := client.ApplyStatus(t.Context(), "applied", status, metav1.ApplyOptions{FieldManager: "status"})
		must(t, err)
		var found bool
		for _, entry := range live.GetManagedFields() {
			found = found || entry.Manager == "status" && entry.Subresource == "status" && entry.Operation == metav1.ManagedFieldsOperationApply
		}
		account.Say(fmt.Sprintf("the status has an owner: %t", found), nil, nil)
		must(t, client.Delete(t.Context(), "applied", metav1.DeleteOptions{}))
		empty(t, client)
		return account
	})
}

// Everyone counts up; a write upon an outdated object that went through would lose a count.
func TestNoLostUpdate(t *testing.T) {
	const writers, count = 8, 6
	for _, kind := range Kinds(domain) {
		t.Run(kind.Name, func(t *testing.T) {
			client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
			_, err := client.Create(t.Context(), kind.New(*namespace, "counter", map[string]string{"count": "0"}), metav1.CreateOptions{})
			must(t, err)
			patiently := wait.Backoff{Steps: 1000, Duration: 5 * time.Millisecond, Factor: 1, Jitter: 3}
			var conflicts atomic.Int64
			var writing errgroup.Group
			for range writers {
				writing.Go(func() error {
					for range count {
						err := retry.RetryOnConflict(patiently, func() error {
							object, err := client.Get(t.Context(), "counter", metav1.GetOptions{})
							if err != nil {
								return err
							}
							value, err := strconv.Atoi(object.GetLabels()["count"])
							if err != nil {
								return err
							}
							object.SetLabels(map[string]string{"count": strconv.Itoa(value + 1)})
							_, err = client.Update(t.Context(), object, metav1.UpdateOptions{})
							if apierrors.IsConflict(err) {
								conflicts.Add(1)
							}
							return err
						})
						if err != nil {
							return err
						}
					}
					return nil
				})
			}
			must(t, writing.Wait())
			object, err := client.Get(t.Context(), "counter", metav1.GetOptions{})
			must(t, err)
			if counted := object.GetLabels()["count"]; counted != strconv.Itoa(writers*count) {
				t.Errorf("counted %s of %d", counted, writers*count)
			}
			if conflicts.Load() == 0 {
				t.Error("no conflict: nothing was shown")
			}
			t.Logf("%d writes, %d conflicts", writers*count, conflicts.Load())
			must(t, client.Delete(t.Context(), "counter", metav1.DeleteOptions{}))
			empty(t, client)
		})
	}
}

func empty(t *testing.T, client dynamic.ResourceInterface) {
	t.Helper()
	eventually(t, "all are gone", func(ctx context.Context) error {
		left, err := versions(ctx, client, metav1.ListOptions{})
		if err == nil && len(left) > 0 {
			err = errors.New("some are there")
		}
		return err
	})
}
