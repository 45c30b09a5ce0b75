import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { headerLine } from '../../authentication/headers.ts';
import { contextOf } from '../context.ts';

const header = 'audit-id';

/** Keeps the front's Audit-ID or gives one, and tells it to the client. */
export const withAuditId = (newId: () => string = randomUUID): RequestHandler => (req, res, next) => {
  const auditId = headerLine(req.rawHeaders, header) || newId();
  contextOf(res).auditId = auditId;
  res.setHeader(header, Buffer.from(auditId, 'utf8').toString('latin1'));
  next();
};
