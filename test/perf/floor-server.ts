// The least that an aggregated server on Node can do: it hands each request on to the kube-apiserver, over the same records
// that tenant-apiserver keeps, and hands the answer back. Nobody is authenticated and nothing is decoded, so that what
// Node's HTTP/2 costs on both sides can be told from what tenant-apiserver adds.
import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { loadRestConfig } from '../../pkg/kube/config.ts';
import { createAuthority } from '../../pkg/server/certificates.ts';
import { tenantGatewayRecords } from '../../api/records/v1alpha1/records.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { floorNames } from './subject.ts';

const [port, kubeconfig] = process.argv.slice(2) as [string, string];
const { server: url, ca, token } = await loadRestConfig(kubeconfig);
const authorization = `Bearer ${await token()}`;
const authority = await createAuthority({ commonName: 'floor' });
const { certPem: cert, keyPem: key } = await authority.issue({ commonName: 'localhost', dnsNames: ['localhost'], usages: ['server'] });
const connect = (): http2.ClientHttp2Session => http2.connect(url, { ca, servername: url.hostname.match(/^[\d.]+$/) ? '' : url.hostname }).on('error', console.error);
let host = connect();

const handOn = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, sent: Buffer[]): void => {
  const body = Buffer.concat(sent).toString('utf8').replace(apiVersionOf(floorNames), apiVersionOf(tenantGatewayRecords));
  if (host.closed || host.destroyed) host = connect();
  const request = host.request(
    {
      ':method': headers[':method'],
      ':path': headers[':path']!.replace(apiVersionOf(floorNames), apiVersionOf(tenantGatewayRecords)),
      authorization,
      accept: 'application/json',
      ...(body && { 'content-type': headers['content-type'] }),
    },
    { endStream: body === '' },
  );
  const received: Buffer[] = [];
  let status = 502;
  request.on('response', (head) => (status = head[':status']!));
  request.on('data', (chunk: Buffer) => received.push(chunk));
  request.on('end', () => {
    stream.respond({ ':status': status, 'content-type': 'application/json' });
    stream.end(received.length === 1 ? received[0] : Buffer.concat(received));
  });
  request.on('error', () => stream.destroy());
  if (body) request.end(body);
};

const server = http2.createSecureServer({ cert, key });
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  if (headers[':method'] === 'GET') {
    const isResource = headers[':path']!.includes('/namespaces/');
    if (isResource) return handOn(stream, headers, []);
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    return stream.end('{}');
  }
  const sent: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => sent.push(chunk));
  stream.on('end', () => handOn(stream, headers, sent));
});
server.listen(Number(port), '127.0.0.1');
