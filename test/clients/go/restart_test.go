package clients

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// persistent writes objects of a kind until it is told to stop, and keeps what was acknowledged.
type persistent struct {
	mutex        sync.Mutex
	acknowledged map[string]string
	refused      int
}

func (writer *persistent) run(ctx context.Context, client dynamic.ResourceInterface, kind Kind) {
	for turn := 0; ctx.Err() == nil; turn++ {
		name := fmt.Sprintf("p%d", turn)
		live, err := client.Create(context.Background(), kind.New(*namespace, name, nil), metav1.CreateOptions{})
		if err == nil {
			live, err = client.Patch(context.Background(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"yes"}}}`), metav1.PatchOptions{})
		}
		writer.mutex.Lock()
		if err == nil {
			writer.acknowledged[name] = live.GetResourceVersion()
		} else {
			writer.refused++
		}
		writer.mutex.Unlock()
		if ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond) // a bounded load, not a wait for anything
		}
	}
}

func (writer *persistent) count() (acknowledged, refused int) {
	writer.mutex.Lock()
	defer writer.mutex.Unlock()
	return len(writer.acknowledged), writer.refused
}

// Whoever runs this restarts the server when told that writing goes on, and says a line when that is done.
func TestInformerSurvivesRestart(t *testing.T) {
	type side struct {
		kind     Kind
		follower *Follower
		writer   *persistent
		client   dynamic.ResourceInterface
	}
	var sides []side
	writing, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for _, kind := range Kinds(domain) {
		each := side{kind, follow(t, dynamicClient(t), kind, nil), &persistent{acknowledged: map[string]string{}}, dynamicClient(t).Resource(kind.Resource).Namespace(*namespace)}
		sides = append(sides, each)
		working.Go(func() { each.writer.run(writing, each.client, kind) })
	}
	defer working.Wait()
	defer stop()
	writeMore := func(what string) {
		t.Helper()
		for _, each := range sides {
			before, _ := each.writer.count()
			eventually(t, what, func(context.Context) error {
				if now, _ := each.writer.count(); now < before+5 {
					return fmt.Errorf("%d writes of %s", now-before, each.kind.Name)
				}
				return nil
			})
		}
	}
	writeMore("there are writes to lose")
	fmt.Println("writing")
	if !bufio.NewScanner(os.Stdin).Scan() {
		t.Fatal("nobody says that the server is back")
	}
	writeMore("writes are taken again")
	stop()
	working.Wait()
	for _, each := range sides {
		converges(t, each.client, each.follower, metav1.ListOptions{})
		isFaultless(t, each.follower)
		held := each.follower.Held()
		for name, version := range each.writer.acknowledged {
			if kept, exists := held[name]; !exists || number(kept) < number(version) {
				t.Errorf("%s, acknowledged at %s, is held at %q", name, version, kept)
			}
		}
		acknowledged, refused := each.writer.count()
		if refused == 0 {
			t.Error("nothing was refused: the server was not away")
		}
		t.Logf("%s: %d acknowledged, %d refused, %d events", each.kind.Name, acknowledged, refused, len(each.follower.Seen()))
		must(t, each.client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		empty(t, each.client)
	}
}
