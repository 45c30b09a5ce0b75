import Type, { type Static } from 'typebox';
import { conditions, int32, int64, intOrString, mapOf } from '../../structural.ts';

/** A Kubernetes quantity as a string (resource.Quantity), with either sign. */
const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

const moduleFlag = (what: string) => Type.Optional(Type.Boolean({ default: false, description: `Run an own ${what} instead of using the nearest ancestor's.` }));

const spec = Type.Object(
  {
    host: Type.Optional(
      Type.String({
        default: '',
        description: "Apex domain of the tenant. Empty means the tenant's name below its parent's host. Only trusted callers may set or change it.",
      }),
    ),
    etcd: moduleFlag('etcd'),
    monitoring: moduleFlag('monitoring stack'),
    ingress: moduleFlag('ingress controller'),
    gateway: Type.Optional(
      Type.Boolean({ description: "Run an own Gateway. Absent or false means that routes attach to the nearest ancestor's Gateway." }),
    ),
    seaweedfs: moduleFlag('SeaweedFS'),
    computeplane: moduleFlag('compute plane'),
    isolated: Type.Optional(Type.Boolean({ description: 'Has no effect: every tenant is isolated. Manifests of older releases have it.' })),
    schedulingClass: Type.Optional(
      Type.String({ default: '', description: 'Scheduling class of the workloads; used only where no ancestor has one.' }),
    ),
    resourceQuotas: Type.Optional(
      mapOf<number | string>(intOrString({ pattern: quantityPattern }), {
        default: {},
        description: 'Budget of the tenant, from a resource to a quantity: cpu, memory, storage, ephemeral-storage, counts as pods or services, count/<resource>.<group>, and full names of extended resources.',
      }),
    ),
  },
  { default: {}, description: 'What the tenant should be.' },
);

const amount = (description: string) => Type.String({ description });

const quotaAmounts = Type.Object({
  limit: amount('The budget.'),
  carvedOut: amount('What tenants below have of it for themselves.'),
  used: amount('What is in use of the rest, here and in tenants below without a budget of their own.'),
  remaining: amount('What is left; below zero where more is promised or in use than there is.'),
});
type QuotaAmounts = Static<typeof quotaAmounts>;

const status = Type.Object(
  {
    observedGeneration: Type.Optional(int64({ description: 'The metadata.generation that this status was computed from.' })),
    version: Type.Optional(Type.String({ description: 'Version of what was last applied.' })),
    namespace: Type.Optional(Type.String({ description: 'Namespace of the tenant.' })),
    host: Type.Optional(Type.String({ description: 'Effective apex domain: own, or derived from the parent.' })),
    gateway: Type.Optional(Type.String({ description: "Namespace of the tenant whose Gateway serves this tenant's routes; empty where there is none." })),
    externalIPsCount: Type.Optional(int32({ description: 'Number of Services of type LoadBalancer with an address.' })),
    quota: Type.Optional(mapOf<QuotaAmounts>(quotaAmounts, { description: 'State of the budget, by the keys of spec.resourceQuotas.' })),
    remaining: Type.Optional(Type.String({ description: 'What is left of the budget, in one line for a person to read.' })),
    owners: Type.Optional(Type.Array(Type.String(), { description: 'Groups whose members own the tenant: its own first, then those of the tenants above.' })),
    children: Type.Optional(int32({ description: 'Number of tenants directly below.' })),
    conditions: conditions({ description: 'Current state; Ready is the summary.' }),
  },
  { description: 'What the tenant is. Written by the controller only.' },
);

/** The source of the kind's types, and of `schema.json`, which is what the server loads: `npm run update` writes it. */
export const schema = Type.Object(
  {
    spec: Type.Optional(spec),
    status: Type.Optional(status),
  },
  { description: 'A tenant: a namespace, who may act in it, how much it may use, and what it inherits from the tenant above it.' },
);

export type TenantSpec = Static<typeof spec>;
export type TenantStatus = Static<typeof status>;
