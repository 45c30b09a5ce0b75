import type { Answer } from '../controlplane/request.ts';

/** What a refusal says: the message of a Status, or else the text as it is. */
export const messageOf = ({ status, text }: Answer): string => {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? `${status} ${text.trim()}`;
  } catch {
    return `${status} ${text.trim()}`;
  }
};
