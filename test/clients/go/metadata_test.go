package clients

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Garbage collectors and the like hold metadata only, client-go's as protobuf.
func TestMetadataOnly(t *testing.T) {
	for _, kind := range Kinds(domain) {
		t.Run(kind.Name, func(t *testing.T) {
			writer := dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)
			create := func(name string) {
				t.Helper()
				_, err := writer.Create(t.Context(), kind.New(*namespace, name, map[string]string{"a": "b"}), metav1.CreateOptions{})
				must(t, err)
			}
			create("before")
			config, requests := connect(t)
			reader, err := metadata.NewForConfig(config)
			must(t, err)
			follower := NewFollower()
			factory := metadatainformer.NewFilteredSharedInformerFactory(reader, resync, *namespace, nil)
			informer := factory.ForResource(kind.Resource).Informer()
			_, err = informer.AddEventHandler(follower)
			must(t, err)
			factory.Start(t.Context().Done())
			t.Cleanup(factory.Shutdown)
			if !toolscache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
				t.Fatal("the informer never synced")
			}
			cached, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}})
			must(t, err)
			go func() { _ = cached.Start(t.Context()) }()
			held := func(ctx context.Context) (map[string]string, error) {
				list := &metav1.PartialObjectMetadataList{}
				list.SetGroupVersionKind(kind.GVK())
				if err := cached.List(ctx, list, client.InNamespace(*namespace)); err != nil {
					return nil, err
				}
				found := map[string]string{}
				for _, item := range list.Items {
					found[item.Name] = item.ResourceVersion
				}
				return found, nil
			}

			create("after")
			_, err = writer.Patch(t.Context(), "after", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"c"}}}`), metav1.PatchOptions{})
			must(t, err)
			must(t, writer.Delete(t.Context(), "before", metav1.DeleteOptions{}))
			converges(t, writer, follower, metav1.ListOptions{})
			isFaultless(t, follower)
			eventually(t, "the cached client converges", func(ctx context.Context) error {
				stored, err := versions(ctx, writer, metav1.ListOptions{})
				if err != nil {
					return err
				}
				now, err := held(ctx)
				if err != nil {
					return err
				}
				return sameVersions(now, stored)
			})
			for _, item := range informer.GetStore().List() {
				if object := item.(*metav1.PartialObjectMetadata); object.Labels["a"] != "c" || object.UID == "" {
					t.Errorf("%s", indented(object))
				}
			}
			for _, request := range requests.Of(kind.Resource.Resource) {
				if !strings.HasPrefix(request.ContentType, "application/vnd.kubernetes.protobuf") {
					t.Errorf("%s %s was answered in %s", request.Method, request.Query.Encode(), request.ContentType)
				}
			}
			must(t, writer.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
			empty(t, writer)
		})
	}
}
