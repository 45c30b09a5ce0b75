import type { Log } from '../controller/log.ts';
import type { KubeClient } from '../kube/client.ts';
import { CertificateFiles } from '../server/certificate-files.ts';
import { createAuthority } from '../server/certificates.ts';
import type { ServingCertificate } from '../server/listener.ts';
import { keepServing, type Duty } from '../server/serving-controller.ts';
import { ServingSecret } from '../server/serving-secret.ts';
import type { ProxyConfig } from './options.ts';

/** Where the serving certificate comes from. */
export interface Serving {
  /** @returns what to listen with @throws Error where files cannot be used */
  start(): Promise<ServingCertificate>;
  stop(): Promise<void>;
  /** Undefined when clients can trust the certificate, else why not. */
  fault(): string | undefined;
}

/** The certificate as the mode says. `use` is called with each later one. */
export const servingOf = (server: ProxyConfig['server'], client: KubeClient, log: Log, use: (certificate: ServingCertificate) => void): Serving =>
  server.tls.mode === 'self-signed' ? selfSigned(server, client, log, use) : fromFiles(server, log, use);

const fromFiles = ({ tls }: ProxyConfig['server'], log: Log, use: (certificate: ServingCertificate) => void): Serving => {
  const files = new CertificateFiles(tls.certFile, tls.keyFile, use, (error) => log.warn({ err: error }, 'reading the serving certificate failed; it is tried again'));
  return {
    start: () => files.start(),
    stop: () => Promise.resolve(files.stop()),
    fault: () => undefined,
  };
};

/** Every replica issues where nothing is, and keeps caBundle: the Secret's version decides whose write counts. */
const selfSigned = ({ namespace, serviceName, apiServices }: ProxyConfig['server'], client: KubeClient, log: Log, use: (certificate: ServingCertificate) => void): Serving => {
  const dnsNames = [`${serviceName}.${namespace}.svc`, `${serviceName}.${namespace}.svc.cluster.local`, `${serviceName}.${namespace}`, 'localhost'];
  const secret = new ServingSecret({
    client,
    namespace,
    name: `${serviceName}-serving`,
    dnsNames,
    onChange: use,
    onError: (error) => log.warn({ err: error }, 'watching the serving Secret failed; it is tried again'),
  });
  let duty: Duty | undefined;
  return {
    start: async () => {
      // to listen with until the shared one is read: nobody trusts it, and the proxy is not ready before
      const { certPem, keyPem } = await (await createAuthority({ commonName: `${serviceName}-temporary` })).issue({ commonName: dnsNames[0]!, dnsNames, usages: ['server'] });
      // Only now: what `use` is told before anybody listens would be lost, and the temporary one be served for ever.
      secret.start();
      duty = keepServing(secret, { client, names: apiServices, service: { namespace, name: serviceName } }, log);
      return { cert: certPem, key: keyPem };
    },
    stop: async () => {
      await Promise.all([duty?.end(), secret.stop()]);
    },
    fault: () => (secret.current ? undefined : 'the serving certificate has not been issued, or not been read yet'),
  };
};
