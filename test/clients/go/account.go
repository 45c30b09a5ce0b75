package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What the server's loop leaves on an object, which a twin has not.
const (
	loopManager = "tenant-apiserver"
	finalizer   = "tenant.cozystack.io/cleanup"
)

var uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Account is what a client saw in a scenario, a line for each step, without what differs between two objects.
type Account []string

// Say notes what a step came to.
func (account *Account) Say(what string, object *unstructured.Unstructured, err error) {
	switch status := apierrors.APIStatus(nil); {
	case errors.As(err, &status):
		text, _ := json.Marshal(status.Status())
		*account = append(*account, what+": "+uids.ReplaceAllString(string(text), "<uid>"))
	case err != nil:
		*account = append(*account, what+": "+err.Error())
	case object != nil:
		*account = append(*account, what+": "+Comparable(object))
	default:
		*account = append(*account, what)
	}
}

// say2 takes what a client returns as it is.
func say2(say func(string, *unstructured.Unstructured, error), what string) func(*unstructured.Unstructured, error) {
	return func(object *unstructured.Unstructured, err error) { say(what, object, err) }
}

// Comparable is an object without identity, version, times, status and the marks of the loop.
func Comparable(object *unstructured.Unstructured) string {
	object = object.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	delete(object.Object, "status")
	finalizers := slices.DeleteFunc(object.GetFinalizers(), func(name string) bool { return name == finalizer })
	object.SetFinalizers(finalizers)
	if len(finalizers) == 0 {
		unstructured.RemoveNestedField(object.Object, "metadata", "finalizers")
	}
	owners := []string{}
	for _, entry := range object.GetManagedFields() {
		if fields := fieldsOf(entry); entry.Manager != loopManager && fields != "{}" {
			owners = append(owners, fmt.Sprintf("%s %s %s %s", entry.Manager, entry.Operation, entry.Subresource, fields))
		}
	}
	slices.Sort(owners)
	object.SetManagedFields(nil)
	text, err := json.Marshal(object.Object)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s owned by %q", text, owners)
}

// fieldsOf an owner, without the server's finalizer.
func fieldsOf(entry metav1.ManagedFieldsEntry) string {
	fields := map[string]any{}
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.Raw, &fields) != nil {
		return "unreadable"
	}
	if metadata, found := fields["f:metadata"].(map[string]any); found {
		delete(metadata, "f:finalizers")
		if len(metadata) == 0 {
			delete(fields, "f:metadata")
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
