// Only names versions: the CustomResourceDefinitions that tests install are read from these modules' folders.
module tenant-apiserver.local/crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	sigs.k8s.io/gateway-api v1.6.3
)
