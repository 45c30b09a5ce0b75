const [minute, hour, day] = [60, 3600, 86400];

/** `3m` and `7s`, or only the first where the second is zero. */
const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;

/**
 * How long ago something was, as Kubernetes shows ages: `5s`, `3m7s`, `45m`, `2h5m`, `2d3h`, `200d`, `3y40d`. A time up to
 * two seconds in the future counts as now, since clocks differ; one further ahead is `<invalid>`.
 * @param milliseconds the duration
 */
export const humanDuration = (milliseconds: number): string => {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / minute);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / hour);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / day);
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 8 * 365 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
};

/**
 * Until when the text of an age stays as it is: no later than it changes, and for ages of days perhaps sooner.
 * @param since @param now milliseconds since the epoch
 */
export const ageChangesAt = (since: number, now: number): number => {
  const age = now - since;
  if (age < 0) return now + 1; // the future is shown in steps of its own, and does not last
  const step = (age < 10 * minute * 1000 ? 1 : age < 8 * hour * 1000 ? minute : hour) * 1000;
  return since + (Math.floor(age / step) + 1) * step;
};
