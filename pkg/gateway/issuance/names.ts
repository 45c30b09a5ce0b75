import { hash } from 'node:crypto';
import { getDomain } from 'tldts';
import { normalHost } from '../hostnames.ts';

/** The domain that a host is registered under, by the Public Suffix List; of a suffix itself, or a name that is none, the host. */
export const registeredDomain = (host: string): string => {
  const bare = normalHost(host).replace(/^\*\./, '');
  return getDomain(bare, { allowPrivateDomains: true }) ?? bare;
};

/** Registered domains of a certificate's names, each once, in order. */
export const registeredDomains = (hosts: readonly string[]): string[] => [...new Set(hosts.map(registeredDomain))].toSorted();

/** Tells sets of names apart, whatever their order and case: 16 hex digits. */
export const setOf = (hosts: readonly string[]): string => hash('sha256', [...new Set(hosts.map(normalHost))].toSorted().join('\n')).slice(0, 16);
