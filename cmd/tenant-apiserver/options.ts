import type { Flags } from '../../pkg/server/flags.ts';
import { ServerOptions, type ServerConfig } from '../../pkg/server/options.ts';
import { GatewayOptions } from '../../pkg/gateway/options.ts';
import type { GatewaySettings } from '../../pkg/gateway/settings.ts';
import { TenantOptions } from '../../pkg/tenant/options.ts';
import type { TenantSettings } from '../../pkg/tenant/settings.ts';
import { LoopLimitOptions, type LoopLimits } from './loop-options.ts';

/** What the program runs with: the server's part, and that of each kind's loop. */
export interface ProgramConfig extends ServerConfig {
  readonly tenants: TenantSettings;
  readonly gateways: GatewaySettings;
  readonly loop: LoopLimits;
}

/** The program's settings, each with its default. */
export class ProgramOptions {
  readonly server = new ServerOptions();
  readonly tenants = new TenantOptions();
  readonly gateways = new GatewayOptions();
  readonly loop = new LoopLimitOptions();

  addFlags(flags: Flags): void {
    this.server.addFlags(flags);
    this.tenants.addFlags(flags);
    this.gateways.addFlags(flags);
    this.loop.addFlags(flags);
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    return [...this.server.validate(), ...this.tenants.validate(), ...this.loop.validate()];
  }

  /** Fills gaps and reads files; the network waits for the start. */
  async complete(): Promise<ProgramConfig> {
    return { ...(await this.server.complete()), tenants: await this.tenants.complete(), gateways: await this.gateways.complete(), loop: this.loop.complete() };
  }
}
