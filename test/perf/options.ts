import { parseArgs } from 'node:util';

export const usage = `Measures tenant-apiserver beside a CustomResourceDefinition with the same schema and sample-apiserver.

  --objects <N[,N]>   how many objects of each kind, one pass after another (default 5000,20000)
  --quick             500 objects, and shorter trials
  --only <text>       only operations whose name contains the text, in any case; may be repeated
  --server <text>     only servers whose name contains the text; may be repeated
  --watchers <N>      how many watchers an event goes to (default 500)
  --direct            measure tenant-apiserver also without the kube-apiserver in front
  --proxy             measure audit-proxy in front of tenant-apiserver, and what it adds; includes --direct
  --audit             measure also a tenant-apiserver that records the metadata of every request in a log; includes --direct
  --floor             measure also a bare Node server that hands reads and writes of one object on to the kube-apiserver
  --profile <dir>     write a CPU profile of tenant-apiserver for each operation there, and what is in it; it is slower then
  --json <file>       write every measurement there
  --minutes <N>       begin nothing new after so many minutes (default 25)
`;

export interface BenchOptions {
  /** Ascending. */
  objects: readonly number[];
  quick: boolean;
  /** In lower case; all if empty. */
  only: readonly string[];
  servers: readonly string[];
  watchers: number;
  direct: boolean;
  proxy: boolean;
  audit: boolean;
  floor: boolean;
  profileDirectory: string | undefined;
  jsonFile: string | undefined;
  minutes: number;
  help: boolean;
}

/** @throws TypeError on an option that is unknown or makes no sense */
export const parseOptions = (args: string[]): BenchOptions => {
  const { values } = parseArgs({
    args,
    options: {
      objects: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      server: { type: 'string', multiple: true, default: [] },
      watchers: { type: 'string', default: '500' },
      direct: { type: 'boolean', default: false },
      proxy: { type: 'boolean', default: false },
      audit: { type: 'boolean', default: false },
      floor: { type: 'boolean', default: false },
      profile: { type: 'string' },
      json: { type: 'string' },
      minutes: { type: 'string', default: '25' },
      help: { type: 'boolean', default: false },
    },
  });
  const objects = values.objects ?? (values.quick ? '500' : '5000,20000');
  return {
    objects: objects.split(',').map((text) => positiveInteger('--objects', text)).sort((a, b) => a - b),
    quick: values.quick,
    only: values.only.map((text) => text.toLowerCase()),
    servers: values.server,
    watchers: positiveInteger('--watchers', values.watchers),
    direct: values.direct || values.proxy || values.audit,
    proxy: values.proxy,
    audit: values.audit,
    floor: values.floor,
    profileDirectory: values.profile,
    jsonFile: values.json,
    minutes: positiveInteger('--minutes', values.minutes),
    help: values.help,
  };
};

const positiveInteger = (flag: string, text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new TypeError(`${flag} takes whole numbers above 0, not "${text}"`);
  return Number(text);
};

export const isWantedServer = ({ servers }: BenchOptions, name: string): boolean => servers.length === 0 || servers.some((text) => name.includes(text));
