import type { RestConfig } from '../kube/config.ts';
import { BatchBackend, type BatchOptions } from './batch.ts';
import { BlockingBackend, type Delivery, type Truncate } from './delivery.ts';
import { fileDelivery, streamDelivery } from './log-delivery.ts';
import type { AuditMetrics } from './metrics.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';
import { union, type Backend } from './sink.ts';
import { WebhookDelivery } from './webhook-delivery.ts';

/** How requests and deliveries depend on each other, as the kube-apiserver calls it. */
export const modes = ['batch', 'blocking', 'blocking-strict'] as const;
export type Mode = (typeof modes)[number];

export interface BackendConfig {
  mode: Mode;
  /** Of mode batch. */
  batch: BatchOptions;
  truncate: Truncate;
}

export interface LogConfig extends BackendConfig {
  /** `-` as the path is the standard output, which is not rotated. */
  rotation: RotationOptions;
}

export interface WebhookConfig extends BackendConfig {
  target: RestConfig;
  initialBackoffMs: number;
}

/** The backends that are configured, as one. */
export const createBackends = (log: LogConfig | undefined, webhook: WebhookConfig | undefined, userAgent: string, metrics: AuditMetrics): Backend =>
  union([
    ...(log ? [around(logDelivery(log.rotation, metrics), log, metrics)] : []),
    ...(webhook ? [around(new WebhookDelivery({ ...webhook, userAgent }), webhook, metrics)] : []),
  ]);

const logDelivery = (rotation: RotationOptions, metrics: AuditMetrics): Delivery =>
  rotation.path === '-' ? streamDelivery(process.stdout) : fileDelivery(new RotatingFile(rotation, (error) => metrics.lost('log', 0, error)));

const around = (delivery: Delivery, { mode, batch, truncate }: BackendConfig, metrics: AuditMetrics): Backend =>
  mode === 'batch' ? new BatchBackend(delivery, { ...batch, truncate, metrics }) : new BlockingBackend(delivery, { strict: mode === 'blocking-strict', truncate, metrics });
