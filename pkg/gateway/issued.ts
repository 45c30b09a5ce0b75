import { conditionOf } from '../controller/conditions.ts';
import type { Certificate } from './types.ts';

/** Whether cert-manager says of a Certificate, as it is now, that its Secret holds what it asks for. */
export const isIssued = (certificate: Certificate): boolean => issuanceOf(certificate) === 'ready';

/** How far a Certificate is, by cert-manager's word on it as it is now. */
export const issuanceOf = ({ metadata: { generation = 0 }, status }: Certificate): 'ready' | 'issuing' | 'waiting' => {
  const says = (type: string): boolean => {
    const said = conditionOf(status?.conditions, type);
    return said?.status === 'True' && (said.observedGeneration ?? generation) >= generation;
  };
  if (says('Ready')) return 'ready';
  return says('Issuing') ? 'issuing' : 'waiting';
};
