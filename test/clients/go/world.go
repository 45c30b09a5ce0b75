// Package clients runs what users run against the server: client-go, controller-runtime and Helm.
package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	domain = "cozystack.io"
	// patience is for machines where much else runs.
	patience = 60 * time.Second
)

// Kind is one of the two kinds, as the server has it or as a CustomResourceDefinition of the same schema has it.
type Kind struct {
	Name     string
	Resource schema.GroupVersionResource
	// spec is what an object of a name needs.
	spec func(name string) map[string]any
	// texts are two fields of the spec that hold a text, and values that are valid in them.
	text, value, other string
}

func tenants(domain string) Kind {
	return Kind{
		Name:     "Tenant",
		Resource: schema.GroupVersionResource{Group: "apps." + domain, Version: "v1alpha1", Resource: "tenants"},
		spec:     func(string) map[string]any { return map[string]any{} },
		text:     "schedulingClass", value: "one", other: "two",
	}
}

func tenantGateways(domain string) Kind {
	return Kind{
		Name:     "TenantGateway",
		Resource: schema.GroupVersionResource{Group: "gateway." + domain, Version: "v1alpha1", Resource: "tenantgateways"},
		spec:     func(name string) map[string]any { return map[string]any{"apex": name + ".example.org"} },
		text:     "gatewayClassName", value: "one", other: "two",
	}
}

// Kinds are both kinds of a domain.
func Kinds(domain string) []Kind { return []Kind{tenants(domain), tenantGateways(domain)} }

// GVK of the kind.
func (kind Kind) GVK() schema.GroupVersionKind {
	return kind.Resource.GroupVersion().WithKind(kind.Name)
}

// New is an object that the server takes.
func (kind Kind) New(namespace, name string, labels map[string]string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": kind.spec(name)}}
	object.SetGroupVersionKind(kind.GVK())
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(labels)
	return object
}

// Request is what was asked over the wire, and what the answer was.
type Request struct {
	Method, Path string
	Query        url.Values
	ContentType  string
}

// Requests keeps what went over the wire.
type Requests struct {
	mutex sync.Mutex
	all   []Request
}

// Of returns the requests whose path ends in a resource.
func (requests *Requests) Of(resource string) []Request {
	requests.mutex.Lock()
	defer requests.mutex.Unlock()
	var found []Request
	for _, request := range requests.all {
		if strings.HasSuffix(request.Path, "/"+resource) {
			found = append(found, request)
		}
	}
	return found
}

type recorder struct {
	next     http.RoundTripper
	requests *Requests
}

func (recorder recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := recorder.next.RoundTrip(request)
	seen := Request{Method: request.Method, Path: request.URL.Path, Query: request.URL.Query()}
	if err == nil {
		seen.ContentType = response.Header.Get("Content-Type")
	}
	recorder.requests.mutex.Lock()
	recorder.requests.all = append(recorder.requests.all, seen)
	recorder.requests.mutex.Unlock()
	return response, err
}

// Config reads a kubeconfig; what is sent through it is recorded, and never throttled here.
func Config(kubeconfig string) (*rest.Config, *Requests, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	requests := &Requests{}
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder{next, requests} })
	return config, requests, nil
}

// Eventually polls until the condition holds; the last error, or that it never did, if that takes too long.
func Eventually(ctx context.Context, condition func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = condition(ctx)
		return last == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

func indented(value any) string {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
