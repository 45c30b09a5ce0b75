/** Bounds of one queue. */
export interface FairQueueLimits {
  /** Requests at a time that were let in and whose answers have not been taken yet; 0: as many as come. */
  maxInFlight: number;
  /** Waiting requests of one user, and of all. */
  maxWaitingPerUser: number;
  maxWaiting: number;
  /** ms; who has waited longer is turned away. */
  maxWaitMs: number;
  /** Requests that are worked on at a time when the process has more to do than it can. */
  minExecuting: number;
}

/** As the kube-apiserver: a quarter of a request's time may pass in a queue. */
export const defaultQueueLimits: Omit<FairQueueLimits, 'maxInFlight'> = { maxWaitingPerUser: 300, maxWaiting: 2000, maxWaitMs: 15_000, minExecuting: 2 };

/** A user leaves room for others, even one whose answers nobody takes: this part of the places is the most he gets. */
const largestShare = 0.75;
/** How often what is worked on at a time follows the process's load while somebody waits. */
const adjustMs = 25;
/** Of the event loop's time. Beyond the one, whoever comes next waits for its turn longer than for its answer. */
const saturated = 0.8;
const relaxed = 0.6;
/** Times as long as usual: beyond the one, requests wait for each other somewhere; below the other, there is room for more. */
const muchSlower = 2;
const hardlySlower = 1.4;
/** What is usual is learnt while fewer are worked on. */
const nearlyAlone = 4;
/** What counts of one more request for what is usual. */
const learning = 0.05;
const firstExecuting = 32;

type State = 'waiting' | 'executing' | 'answered' | 'over';

/** One request's place, from when it comes until its client has the answer. */
export class Place {
  state: State = 'waiting';
  begunAt = 0;
  readonly user: User;
  readonly sort: string;
  readonly since: number;
  readonly start: () => void;
  readonly refuse: () => void;
  readonly #queue: FairQueue;

  constructor(queue: FairQueue, user: User, sort: string, since: number, start: () => void, refuse: () => void) {
    this.#queue = queue;
    this.user = user;
    this.sort = sort;
    this.since = since;
    this.start = start;
    this.refuse = refuse;
  }

  /** The answer is complete: the work is done, but for sending. */
  answered(): void {
    this.#queue.pass(this, 'answered');
  }

  /** The answer has been taken, or the client is gone. */
  over(): void {
    this.#queue.pass(this, 'over');
  }
}

interface User {
  name: string;
  executing: number;
  inFlight: number;
  waiting: Place[];
}

export interface FairQueueOptions {
  limits: FairQueueLimits;
  /** How much of its time the process was busy since the last call, 0 to 1. */
  load?: () => number;
  now?: () => number;
}

/**
 * Lets requests in, a bounded number at a time, and keeps others waiting in a queue of each user. Whose turn it is: the user with the fewest
 * requests under way, in turns among equals. So one user's flood makes that user wait, and others hardly.
 */
export class FairQueue {
  readonly limits: FairQueueLimits;
  readonly #load: () => number;
  readonly #now: () => number;
  /** Users with requests, those who had a turn last at the end. */
  readonly #users = new Map<string, User>();
  #ceiling = firstExecuting;
  #executing = 0;
  #inFlight = 0;
  #waiting = 0;
  #dispatching = false;
  #adjusting = false;
  /** ms that a request of a sort takes when it is nearly alone. */
  readonly #usual = new Map<string, number>();
  /** ms that requests took since the last adjustment, and would usually have taken. */
  #took = 0;
  #expected = 0;

  constructor({ limits, load = loopLoad(), now = () => performance.now() }: FairQueueOptions) {
    this.limits = limits;
    this.#load = load;
    this.#now = now;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Requests that may be worked on at a time now. */
  get ceiling(): number {
    return this.#ceiling;
  }

  /**
   * A request has come. The place that it gets is executing, waiting, or (turned away) over; one that waits is started or refused later.
   * What becomes of the request is to be told to the place.
   * @param sort of requests that take about the same time
   */
  enter(name: string, sort: string, start: () => void, refuse: () => void): Place {
    const user = this.#userOf(name);
    const place = new Place(this, user, sort, this.#now(), start, refuse);
    if (this.#waiting === 0 && this.#hasRoom(user)) {
      this.#begin(place);
      return place;
    }
    if (user.waiting.length >= this.limits.maxWaitingPerUser) {
      place.state = 'over';
      return place;
    }
    user.waiting.push(place);
    this.#waiting += 1;
    if (this.#waiting > this.limits.maxWaiting) this.#turnAway(this.#longest().waiting.at(-1)!, place);
    this.#schedule();
    if (!this.#adjusting) this.#adjustSoon();
    return place;
  }

  /** Of a place: what has become of its request. */
  pass(place: Place, state: 'answered' | 'over'): void {
    const { user, state: before } = place;
    if (before === 'over' || before === state) return;
    place.state = state;
    if (before === 'waiting') this.#remove(place, user.waiting.indexOf(place));
    if (before === 'executing') {
      this.#executing -= 1;
      user.executing -= 1;
      this.#learn(place);
    }
    if (state === 'over' && before !== 'waiting') {
      this.#inFlight -= 1;
      user.inFlight -= 1;
    }
    this.#forget(user);
    if (this.#waiting > 0) this.#schedule();
  }

  #userOf(name: string): User {
    let user = this.#users.get(name);
    if (!user) this.#users.set(name, (user = { name, executing: 0, inFlight: 0, waiting: [] }));
    return user;
  }

  #forget(user: User): void {
    if (user.inFlight === 0 && user.waiting.length === 0) this.#users.delete(user.name);
  }

  /** A user of whom nothing is worked on need not wait for others, as long as there are places. */
  #hasRoom({ inFlight, executing }: User): boolean {
    const { maxInFlight } = this.limits;
    if (maxInFlight === 0) return true;
    return this.#inFlight < maxInFlight && inFlight < Math.ceil(maxInFlight * largestShare) && (executing === 0 || this.#executing < this.#ceiling);
  }

  #begin(place: Place): void {
    place.state = 'executing';
    place.begunAt = this.#now();
    place.user.executing += 1;
    place.user.inFlight += 1;
    this.#executing += 1;
    this.#inFlight += 1;
  }

  #turnAway(place: Place, entering?: Place): void {
    this.#remove(place, place.user.waiting.indexOf(place));
    place.state = 'over';
    this.#forget(place.user);
    if (place !== entering) place.refuse();
  }

  #remove({ user }: Place, at = 0): void {
    user.waiting.splice(at, 1);
    this.#waiting -= 1;
  }

  #longest(): User {
    let longest: User | undefined;
    for (const user of this.#users.values()) if (!longest || user.waiting.length > longest.waiting.length) longest = user;
    return longest!;
  }

  /** In a turn of the event loop of its own: what has arrived meanwhile is seen first, and no call nests in another. */
  #schedule(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    setImmediate(() => {
      this.#dispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#waiting > 0) {
      const user = this.#next();
      if (!user) return;
      const place = user.waiting[0]!;
      this.#remove(place);
      this.#users.delete(user.name); // to the end
      this.#users.set(user.name, user);
      this.#begin(place);
      place.start();
    }
  }

  #next(): User | undefined {
    let best: User | undefined;
    for (const user of this.#users.values()) {
      if (user.waiting.length > 0 && this.#hasRoom(user) && (!best || user.executing < best.executing)) best = user;
    }
    return best;
  }

  /** How long a sort of request takes is learnt while few are worked on; then how much longer it takes among many. */
  #learn({ sort, begunAt }: Place): void {
    const took = this.#now() - begunAt;
    const usual = this.#usual.get(sort);
    if (this.#waiting === 0 && this.#executing < nearlyAlone) this.#usual.set(sort, usual === undefined ? took : usual + (took - usual) * learning);
    if (usual === undefined || this.#waiting === 0) return;
    this.#took += took;
    this.#expected += usual;
  }

  /** Fewer at a time where more would only wait for each other, here or at the host; more where neither is busy. */
  #adjust(): void {
    this.#adjusting = false;
    const load = this.#load();
    const slowdown = this.#expected > 0 ? this.#took / this.#expected : hardlySlower;
    this.#took = 0;
    this.#expected = 0;
    if (load >= saturated || slowdown > muchSlower) this.#ceiling = Math.max(this.limits.minExecuting, Math.floor(this.#ceiling * 0.75));
    else if (load < relaxed && (slowdown < hardlySlower || this.#usual.size === 0)) this.#ceiling = Math.min(this.limits.maxInFlight, Math.ceil(this.#ceiling * 1.25));
    const latest = this.#now() - this.limits.maxWaitMs;
    for (const user of this.#users.values()) while (user.waiting[0] && user.waiting[0].since <= latest) this.#turnAway(user.waiting[0]);
    if (this.#waiting === 0) return;
    this.#schedule();
    this.#adjustSoon();
  }

  #adjustSoon(): void {
    this.#adjusting = true;
    setTimeout(() => this.#adjust(), adjustMs).unref();
  }
}

const loopLoad = (): (() => number) => {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
};
