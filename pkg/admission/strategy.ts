import { StatusError } from '../kube/status-error.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { AdmissionPlugin } from './chain.ts';

/** Sets what a kind needs on each object, and refuses what its schema cannot express. */
export const strategyAdmission = (strategyOf: (resource: string) => Strategy): AdmissionPlugin => ({
  name: 'Strategy',
  handles: ({ operation, subresource }) => operation !== 'DELETE' && subresource === '',
  admit: (attributes) => {
    const { object, oldObject, resource } = attributes;
    const { finalizer } = strategyOf(resource);
    if (!finalizer || !object) return;
    const finalizers = object.metadata.finalizers ?? [];
    // Whoever may update may not skip what is done at the end; the loop takes it off, in the record.
    const wanted = oldObject ? (oldObject.metadata.finalizers?.includes(finalizer) ?? false) : true;
    if (!wanted || finalizers.includes(finalizer)) return;
    if (oldObject?.metadata.deletionTimestamp) attributes.warn(`metadata.finalizers: ${finalizer} stays until what belongs to the object is gone; its conditions tell what that waits for`);
    attributes.object = { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
  },
  validate: ({ object, oldObject, kind, resource, name, warn }) => {
    const strategy = strategyOf(resource);
    if (!object) return;
    const causes = strategy.validate(object, oldObject);
    if (causes.length > 0) throw StatusError.invalid(kind.group, kind.kind, name, causes);
    for (const warning of strategy.warnings(object, oldObject)) warn(warning);
  },
});
