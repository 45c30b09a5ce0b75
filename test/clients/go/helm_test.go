package clients

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// manifest of an object with labels, and with a value in the text field of its kind, if that is not empty.
func manifest(kind Kind, name, value string, labels map[string]string) map[string]any {
	object := kind.New(*namespace, name, labels)
	if value != "" {
		object.Object["spec"].(map[string]any)[kind.text] = value
	}
	return object.Object
}

// byHand changes an object as somebody would who does not know that Helm made it.
func byHand(t *testing.T, client dynamic.ResourceInterface, kind Kind, name string) {
	t.Helper()
	_, err := client.Patch(t.Context(), name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"keep":null,"foreign":"yes"}},"spec":{"`+kind.text+`":"byhand"}}`), metav1.PatchOptions{FieldManager: "hand"})
	must(t, err)
}

func TestHelmReleases(t *testing.T) {
	for name, serverSide := range map[string]bool{"server-side apply": true, "patches made by Helm": false} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, kind Kind) []string {
				client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
				helm, err := NewHelm(kubeconfig, t.TempDir(), *namespace, "release", serverSide, kube.HookOnlyStrategy)
				must(t, err)
				var account Account
				look := func(what string, err error) {
					t.Helper()
					if err != nil {
						account.Say(what, nil, err)
					}
					for _, name := range []string{"stays", "comes", "goes"} {
						say2(account.Say, what+", "+name)(client.Get(t.Context(), name, metav1.GetOptions{}))
					}
				}
				first := []any{
					manifest(kind, "stays", kind.value, map[string]string{"keep": "1", "drop": "1"}),
					manifest(kind, "goes", "", nil),
				}
				err = helm.Install(first...)
				must(t, err)
				look("install", err)
				look("upgrade to the same", helm.Upgrade(false, first...))
				byHand(t, client, kind, "stays")
				second := []any{
					manifest(kind, "stays", kind.other, map[string]string{"keep": "1"}),
					manifest(kind, "comes", "", map[string]string{"new": "1"}),
				}
				// What was changed by hand belongs to someone else, which only the server knows.
				if err := helm.Upgrade(false, second...); serverSide {
					if err == nil || !strings.Contains(err.Error(), `conflict with "hand"`) {
						t.Errorf("the upgrade took what was changed by hand: %v", err)
					}
					look("upgrade in conflict", err)
					err = helm.Upgrade(true, second...)
					must(t, err)
					look("forced upgrade", err)
				} else {
					must(t, err)
					look("upgrade", err)
				}
				third := []any{manifest(kind, "stays", "", nil)}
				err = helm.Upgrade(true, third...)
				must(t, err)
				look("upgrade that leaves fields out", err)
				unknown := manifest(kind, "stays", "", nil)
				unknown["spec"].(map[string]any)["nope"] = true
				// Only an apply is strict; a patch has the unknown field dropped.
				err = helm.Upgrade(true, unknown)
				if (err != nil) != serverSide {
					t.Errorf("upgrade with an unknown field: %v", err)
				}
				look("upgrade with an unknown field", err)
				err = helm.Rollback(1)
				must(t, err)
				look("rollback", err)
				revisions, err := helm.Revisions()
				must(t, err)
				if revisions < 5 {
					t.Errorf("%d revisions", revisions)
				}
				err = helm.Uninstall()
				must(t, err)
				look("uninstall", err)
				empty(t, client)
				return account
			})
		})
	}
}

func TestHelmThreeWayMerge(t *testing.T) {
	onBoth(t, func(t *testing.T, kind Kind) []string {
		client := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
		helm, err := NewHelm(kubeconfig, t.TempDir(), *namespace, "adopted", false, kube.HookOnlyStrategy)
		must(t, err)
		var account Account
		look := func(what string) {
			t.Helper()
			say2(account.Say, what)(client.Get(t.Context(), "merged", metav1.GetOptions{}))
		}
		wanted := manifest(kind, "merged", kind.value, map[string]string{"keep": "1", "drop": "1"})
		_, err = client.Create(t.Context(), kind.New(*namespace, "merged", map[string]string{"drop": "0"}), metav1.CreateOptions{})
		must(t, err)
		must(t, helm.Adopt(wanted))
		look("adopted")
		byHand(t, client, kind, "merged")
		// Two manifests that are the same say nothing of the hand's change; the live object does.
		must(t, helm.ThreeWay(wanted, wanted))
		look("set right")
		live, err := client.Get(t.Context(), "merged", metav1.GetOptions{})
		must(t, err)
		if labels := live.GetLabels(); live.Object["spec"].(map[string]any)[kind.text] != kind.value || labels["keep"] != "1" || labels["foreign"] != "yes" {
			t.Errorf("not merged: %s", indented(live.Object))
		}
		must(t, helm.ThreeWay(wanted, manifest(kind, "merged", "", map[string]string{"keep": "2"})))
		look("fields left out")
		must(t, helm.Uninstall())
		empty(t, client)
		return account
	})
}
