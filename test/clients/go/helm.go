package clients

import (
	"log/slog"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Helm acts on one release, as its command line does.
type Helm struct {
	actions *action.Configuration
	release string
	// Client writes manifests without a release.
	Client    *kube.Client
	namespace string
	// serverSide says whether releases are applied by the server; otherwise Helm makes patches, as Helm 3 did.
	serverSide bool
	// wait says how an action waits for what it did.
	wait kube.WaitStrategy
}

// NewHelm keeps releases as Secrets in a namespace and discovery documents in a folder, and acts on the release of a name.
func NewHelm(kubeconfig, cacheFolder, namespace, release string, serverSide bool, wait kube.WaitStrategy) (*Helm, error) {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.CacheDir, flags.Namespace = &kubeconfig, &cacheFolder, &namespace
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1
		return config
	}
	actions := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := actions.Init(flags, namespace, "secret"); err != nil {
		return nil, err
	}
	return &Helm{actions, release, kube.New(flags), namespace, serverSide, wait}, nil
}

// chartOf holds manifests as they are.
func chartOf(objects ...any) *chart.Chart {
	return &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "tenants", Version: "1.0.0"},
		Templates: []*common.File{{Name: "templates/objects.yaml", Data: []byte(manifestOf(objects...))}},
	}
}

func manifestOf(objects ...any) string {
	documents := make([]string, 0, len(objects))
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			panic(err) // objects are written down in tests
		}
		documents = append(documents, string(text))
	}
	return strings.Join(documents, "---\n")
}

// Install makes the release.
func (helm *Helm) Install(objects ...any) error {
	install := action.NewInstall(helm.actions)
	install.ReleaseName, install.Namespace = helm.release, helm.namespace
	install.ServerSideApply, install.WaitStrategy, install.Timeout = helm.serverSide, helm.wait, patience
	_, err := install.Run(chartOf(objects...), nil)
	return err
}

// Adopt makes the release of what may exist already.
func (helm *Helm) Adopt(objects ...any) error {
	install := action.NewInstall(helm.actions)
	install.ReleaseName, install.Namespace, install.TakeOwnership = helm.release, helm.namespace, true
	install.ServerSideApply, install.WaitStrategy, install.Timeout = helm.serverSide, helm.wait, patience
	_, err := install.Run(chartOf(objects...), nil)
	return err
}

// Upgrade gives the release other objects; force takes fields from other managers, which only the server knows.
func (helm *Helm) Upgrade(force bool, objects ...any) error {
	upgrade := action.NewUpgrade(helm.actions)
	upgrade.Namespace, upgrade.ForceConflicts = helm.namespace, force && helm.serverSide
	upgrade.WaitStrategy, upgrade.Timeout = helm.wait, patience
	_, err := upgrade.Run(helm.release, chartOf(objects...), nil)
	return err
}

// Rollback goes back to a revision.
func (helm *Helm) Rollback(revision int) error {
	rollback := action.NewRollback(helm.actions)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = revision, helm.wait, patience
	rollback.ForceConflicts = helm.serverSide
	return rollback.Run(helm.release)
}

// Uninstall removes what the release made, and waits until it is gone.
func (helm *Helm) Uninstall() error {
	uninstall := action.NewUninstall(helm.actions)
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, patience
	_, err := uninstall.Run(helm.release)
	return err
}

// Revisions that the release has had.
func (helm *Helm) Revisions() (int, error) {
	history := action.NewHistory(helm.actions)
	history.Max = 100
	releases, err := history.Run(helm.release)
	return len(releases), err
}

// ThreeWay writes a manifest with a merge patch that is made of the one before, the new one and the live object.
func (helm *Helm) ThreeWay(before, after any) error {
	original, err := helm.Client.Build(strings.NewReader(manifestOf(before)), true)
	if err != nil {
		return err
	}
	target, err := helm.Client.Build(strings.NewReader(manifestOf(after)), true)
	if err != nil {
		return err
	}
	_, err = helm.Client.Update(original, target,
		kube.ClientUpdateOptionServerSideApply(false, false), kube.ClientUpdateOptionThreeWayMergeForUnstructured(true))
	return err
}
