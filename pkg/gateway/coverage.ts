import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Verdict } from '../controller/conditions.ts';
import { outside } from './attached.ts';
import { isWildcardMode } from './ground.ts';
import { isUnder, isWildcard, normalHost } from './hostnames.ts';

const type = 'HostCovered';

/**
 * Whether a gateway serves what is below the host of a tenant that uses it, for the Tenant's own status: a host that cannot be
 * covered is told to who asked for it, and keeps the gateway from nothing. `which` names the gateway, `namespace/name`.
 */
export const coverageOf = (host: string, which: string, gateway: TenantGateway | undefined): Verdict => {
  const no = (reason: string, message: string): Verdict => ({ type, status: 'False', reason, message });
  if (!gateway || gateway.metadata.deletionTimestamp) return no('GatewayMissing', `TenantGateway ${which} does not exist, or is being deleted: nothing serves the routes of this tenant`);
  const apex = normalHost(gateway.spec.apex);
  if (!isUnder(host, apex)) return no('OutsideApex', outside(host, apex));
  if (!isWildcardMode(gateway.spec)) return { type, status: 'True', reason: 'CertificatePerHost', message: `TenantGateway ${which} orders a certificate for each host that a route names` };
  const { status } = gateway;
  const listener = status?.listeners?.find(({ hostname }) => hostname === `*.${host}`);
  if (!listener) {
    const limited = status?.conditions?.find(({ reason }) => reason === 'ListenerLimitReached');
    if (limited) return no('ListenerLimitReached', `TenantGateway ${which} has no listener left for *.${host}; set spec.gateway, so that this tenant has a gateway of its own`);
    return { type, status: 'Unknown', reason: 'Pending', message: `TenantGateway ${which} has no listener for *.${host} yet` };
  }
  const { certificate, certificateName } = listener;
  if (certificate?.ready === false)
    return no('CertificateNotReady', `The certificate for *.${host}, Secret ${certificateName} of TenantGateway ${which}, is not ready: ${certificate.reason ?? 'pending'}. If its issuer cannot prove the domain, set spec.gateway, so that this tenant has a gateway of its own`);
  return { type, status: 'True', reason: 'Covered', message: `TenantGateway ${which} serves *.${host} with Secret ${certificateName}` };
};

/** What of a gateway coverageOf goes by. */
export const coverageMatter = ({ metadata, spec, status }: TenantGateway): unknown => [
  metadata.deletionTimestamp,
  spec.apex,
  spec.certMode,
  status?.listeners?.flatMap(({ hostname, certificateName, certificate }) => (hostname && isWildcard(hostname) ? [[hostname, certificateName, certificate?.ready, certificate?.reason]] : [])),
  status?.conditions?.some(({ reason }) => reason === 'ListenerLimitReached'),
];
