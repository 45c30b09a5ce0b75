package clients

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Of an administrator; the flag of that name is controller-runtime's.
var kubeconfig = os.Getenv("KUBECONFIG")

var (
	namespace  = flag.String("namespace", "", "that nobody else uses")
	twinDomain = flag.String("twin-domain", "", "of the CustomResourceDefinitions of the same schemas, where there are any")
)

func TestMain(main *testing.M) {
	flag.Parse()
	os.Exit(main.Run())
}

func connect(t *testing.T) (*rest.Config, *Requests) {
	t.Helper()
	config, requests, err := Config(kubeconfig)
	must(t, err)
	return config, requests
}

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	config, _ := connect(t)
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, condition func(context.Context) error) {
	t.Helper()
	if err := Eventually(t.Context(), condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// versions of the objects that the server has, by name.
func versions(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions) (map[string]string, error) {
	list, err := client.List(ctx, options)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, item := range list.Items {
		found[item.GetName()] = item.GetResourceVersion()
	}
	return found, nil
}

// sameVersions tells in what one holder of objects differs from the server.
func sameVersions(held, stored map[string]string) error {
	for name, version := range stored {
		if held[name] != version {
			return fmt.Errorf("%s is at %s in the server, and held at %q", name, version, held[name])
		}
	}
	for name := range held {
		if _, exists := stored[name]; !exists {
			return fmt.Errorf("%s is held, and not in the server", name)
		}
	}
	return nil
}

// onBoth fails unless a scenario has the same account of the server's kind as of its twin.
func onBoth(t *testing.T, scenario func(t *testing.T, kind Kind) []string) {
	t.Helper()
	for at, ours := range Kinds(domain) {
		t.Run(ours.Name, func(t *testing.T) {
			accounts := [2]string{}
			for side, kind := range []Kind{ours, Kinds(*twinDomain)[at]} {
				accounts[side] = strings.ReplaceAll(strings.Join(scenario(t, kind), "\n"), *twinDomain, domain)
			}
			if accounts[0] != accounts[1] {
				t.Errorf("ours:\n%s\n\nthe twin:\n%s", accounts[0], accounts[1])
			}
		})
	}
}
