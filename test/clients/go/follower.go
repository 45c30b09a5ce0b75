package clients

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Follower is told by an informer, and notes what does not follow from what it was told before.
type Follower struct {
	mutex  sync.Mutex
	held   map[string]string
	seen   []string
	faults []string
	// Resyncs counts updates that change nothing.
	resyncs int
}

// NewFollower has been told nothing.
func NewFollower() *Follower { return &Follower{held: map[string]string{}} }

var _ cache.ResourceEventHandler = &Follower{}

// OnAdd takes a new object.
func (follower *Follower) OnAdd(object any, _ bool) {
	follower.note("add", object, func(name, version string) string {
		if _, exists := follower.held[name]; exists {
			return "which is held"
		}
		follower.held[name] = version
		return ""
	})
}

// OnUpdate takes an object that is newer than the one held, or the same in a resync.
func (follower *Follower) OnUpdate(old, object any) {
	if before, after := metaOf(old), metaOf(object); before.GetResourceVersion() == after.GetResourceVersion() {
		follower.mutex.Lock()
		follower.resyncs++
		follower.mutex.Unlock()
		return
	}
	follower.note("update", object, func(name, version string) string {
		before, exists := follower.held[name]
		if !exists || number(before) >= number(version) {
			return fmt.Sprintf("upon %q", before)
		}
		follower.held[name] = version
		return ""
	})
}

// OnDelete takes an object, or what was known of it last.
func (follower *Follower) OnDelete(object any) {
	if unknown, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = unknown.Obj
	}
	follower.note("delete", object, func(name, _ string) string {
		if _, exists := follower.held[name]; !exists {
			return "which is not held"
		}
		delete(follower.held, name)
		return ""
	})
}

func (follower *Follower) note(event string, object any, faultOf func(name, version string) string) {
	follower.mutex.Lock()
	defer follower.mutex.Unlock()
	name, version := metaOf(object).GetName(), metaOf(object).GetResourceVersion()
	follower.seen = append(follower.seen, event+" "+name)
	if fault := faultOf(name, version); fault != "" {
		follower.faults = append(follower.faults, fmt.Sprintf("%s %s at %s, %s", event, name, version, fault))
	}
}

// Held are the versions of what there is, by name.
func (follower *Follower) Held() map[string]string {
	follower.mutex.Lock()
	defer follower.mutex.Unlock()
	return maps.Clone(follower.held)
}

// Seen are the events of a kind and name, in order; resyncs are none.
func (follower *Follower) Seen() []string {
	follower.mutex.Lock()
	defer follower.mutex.Unlock()
	return slices.Clone(follower.seen)
}

// Faults and the number of resyncs so far.
func (follower *Follower) Faults() ([]string, int) {
	follower.mutex.Lock()
	defer follower.mutex.Unlock()
	return slices.Clone(follower.faults), follower.resyncs
}

func metaOf(object any) metav1.Object {
	metadata, err := meta.Accessor(object)
	if err != nil {
		panic(err) // informers hold objects only
	}
	return metadata
}

func number(version string) int {
	value, err := strconv.Atoi(version)
	if err != nil {
		panic(err)
	}
	return value
}
