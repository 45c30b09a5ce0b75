import assert from 'node:assert/strict';
import { backend } from './backends.ts';
import { apex, dataPlaneWorld, type DataPlaneWorld } from './world.ts';

describe('a gateway with certificates for all hosts of an apex', function () {
  this.timeout(120_000);
  let world: DataPlaneWorld;
  let child: string;
  let grandchild: string;
  before(async function () {
    this.timeout(180_000);
    world = await dataPlaneWorld();
    child = await world.tenant('tenant-root', 'wide');
    grandchild = await world.tenant(child, 'grand');
    const port = await backend('an app');
    await world.publish(
      { namespace: 'tenant-root', name: 'here', hosts: [`here.${apex}`, apex], port },
      { namespace: child, name: 'app', hosts: [`app.wide.${apex}`], port },
      { namespace: grandchild, name: 'app', hosts: [`app.grand.wide.${apex}`], port },
      { namespace: child, name: 'contested', hosts: [`contested.wide.${apex}`], path: '/lost', port },
      { namespace: 'tenant-root', name: 'contested', hosts: [`contested.wide.${apex}`], port: await backend('the owner') },
    );
  });

  const all = [apex, `*.${apex}`, `*.wide.${apex}`, `*.grand.wide.${apex}`];

  /** What holds in both modes. */
  const serves = async (isOfMode: (names: string[]) => boolean): Promise<void> => {
    for (const host of [`here.${apex}`, apex, `app.wide.${apex}`, `app.grand.wide.${apex}`]) {
      const { certificate } = await world.answersWith(host, 'an app', ({ certificate }) => isOfMode(namesIn(certificate!)));
      assert.ok(certificate!.checkHost(host), `${host}: ${certificate!.subjectAltName}`);
    }
    await world.answers(`contested.wide.${apex}`, 'the owner');
    await world.upToDate(child);
    assert.deepEqual(await world.whoAnswersOften(`contested.wide.${apex}`, '/lost'), new Set(['the owner']));
    assert.equal(await world.whoAnswers(`nobody.wide.${apex}`), '404');
  };
  const namesIn = ({ subjectAltName = '' }: { subjectAltName?: string | undefined }): string[] => subjectAltName.split(', ').map((name) => name.replace('DNS:', ''));

  it('serves its own hosts and those of tenants below, with an issued certificate', async () => {
    await world.setGateway({ certMode: 'dns01', dns01: { provider: 'cloudflare', cloudflare: { apiTokenSecretRef: { name: 'token', key: 'token' } } } });
    await serves((names) => all.every((name) => names.includes(name)) && names.includes(`wide.${apex}`));
  });

  it('serves the same hosts with an existing certificate', async () => {
    await world.giveCertificate('wildcard', all);
    await world.setGateway({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wildcard' } });
    await serves((names) => names.length === all.length);
  });
});
