import type { OutcomeEvent } from './outcome.ts';

// Events go the way that text goes, so that they keep their place in it: a line each, marked as RFC 7464 does it.
const mark = '\u001e';

/** What a lane's process prints for an event. */
export const eventLine = (event: OutcomeEvent): string => mark + JSON.stringify(event);

/** Takes the events out of a line of a lane's output; text that did not end its line may stand before one. */
export const readLine = (line: string): { text?: string; event?: OutcomeEvent } => {
  const at = line.indexOf(mark);
  if (at < 0) return { text: line };
  try {
    const event = JSON.parse(line.slice(at + 1)) as OutcomeEvent;
    return at > 0 ? { text: line.slice(0, at), event } : { event };
  } catch {
    return { text: line };
  }
};
