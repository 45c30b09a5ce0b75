/** Set on every Tenant at create and removed by the loop alone, when everything that the Tenant made is gone. */
export const cleanupFinalizer = 'tenant.cozystack.io/cleanup';

/** Carries the uid of the Tenant that made an object. */
export const tenantUidLabel = 'tenant.cozystack.io/uid';

export const rootNamespace = 'tenant-root';
export const rootTenant = 'root';

/** The TenantGateway of a tenant that has its own. */
export const gatewayName = 'cozystack';

/** The namespace of Tenant `name` that was created in `namespace`. */
export const namespaceOf = (namespace: string, name: string): string => {
  if (namespace !== rootNamespace) return `${namespace}-${name}`;
  return name === rootTenant ? rootNamespace : `tenant-${name}`;
};

export const isRoot = (namespace: string, name: string): boolean => namespace === rootNamespace && name === rootTenant;

/** The Tenant that a namespace belongs to, by its name alone. */
export const tenantOf = (namespace: string): { namespace: string; name: string } | undefined => {
  if (!namespace.startsWith('tenant-')) return undefined;
  if (namespace === rootNamespace) return { namespace: rootNamespace, name: rootTenant };
  const dash = namespace.lastIndexOf('-');
  const [parent, name] = [namespace.slice(0, dash), namespace.slice(dash + 1)];
  if (!/^[a-z][a-z0-9]*$/.test(name)) return undefined;
  if (parent === 'tenant') return { namespace: rootNamespace, name };
  return parent === rootNamespace || tenantOf(parent) === undefined ? undefined : { namespace: parent, name };
};

/** A tenant namespace and those above it, by name: one label each, `tenant.cozystack.io/<namespace>`. */
export const lineageOf = (namespace: string): string[] => {
  const segments = namespace.split('-');
  const prefixes = segments.slice(1).map((_, index) => segments.slice(0, index + 2).join('-'));
  return prefixes.includes(rootNamespace) ? prefixes : [rootNamespace, ...prefixes];
};
