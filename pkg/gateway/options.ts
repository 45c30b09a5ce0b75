import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Flags } from '../server/flags.ts';
import { defaultIssuers, issuersFrom, type IssuerTable } from './issuance/issuers.ts';
import type { GatewaySettings } from './settings.ts';

/** The command line's settings of gateways. */
export class GatewayOptions {
  issuers = '';

  addFlags(flags: Flags): void {
    flags.add({
      name: 'issuers',
      value: 'path',
      help: `YAML file, read at start, with ACME issuers by name, besides or instead of ${[...defaultIssuers.keys()].join(' and ')}: see docs/certificates.md`,
      default: this.issuers,
      set: (path) => void (this.issuers = path),
    });
  }

  /** @throws Error where the file cannot be read, or holds no issuers */
  async complete(): Promise<GatewaySettings> {
    return { issuers: this.issuers ? await readIssuers(this.issuers) : defaultIssuers };
  }
}

const readIssuers = async (path: string): Promise<IssuerTable> => {
  try {
    return issuersFrom(parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw new Error(`--issuers: ${path}: ${(error as Error).message}`, { cause: error });
  }
};
