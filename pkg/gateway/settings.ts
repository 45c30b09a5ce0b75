import { defaultIssuers, type IssuerTable } from './issuance/issuers.ts';

/** What the platform decides for all gateways. */
export interface GatewaySettings {
  issuers: IssuerTable;
}

export const defaultGatewaySettings: GatewaySettings = { issuers: defaultIssuers };
