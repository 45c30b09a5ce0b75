import { reaches, type Event } from './event.ts';

/** An event and its JSON, without a line feed. */
export interface EncodedEvent {
  event: Event;
  json: string;
}

/** Limits of what is sent, in characters of JSON. */
export interface TruncateLimits {
  maxEventSize: number;
  maxBatchSize: number;
}

const truncated = 'audit.k8s.io/truncated';
const encoded = new WeakMap<Event, string>();

/** Encodes an event once, however many backends it goes to. */
export const encode = (event: Event): EncodedEvent => {
  let json = encoded.get(event);
  if (json === undefined) {
    json = JSON.stringify(event);
    encoded.set(event, json);
  }
  return { event, json };
};

/**
 * An event that keeps to the limit, if need be without its bodies and with an annotation that says so. Undefined where
 * even that is too large.
 */
export const encodeWithin = (event: Event, maxEventSize: number): EncodedEvent | undefined => {
  const whole = encode(event);
  if (whole.json.length <= maxEventSize) return whole;
  if (!reaches(event.level, 'Request')) return undefined;
  const { requestObject: _request, responseObject: _response, ...rest } = event;
  const shorter = encode({ ...rest, annotations: { ...event.annotations, [truncated]: 'true' } });
  return shorter.json.length <= maxEventSize ? shorter : undefined;
};

/** The body of a POST to a webhook: an EventList. */
export const encodeList = (events: readonly EncodedEvent[]): string =>
  `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.map(({ json }) => json).join(',')}]}\n`;
