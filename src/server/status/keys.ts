/** Every key under which this room stores; no other room builds these keys. */

/**
 * The key of an object for probes of a store. A probe creates and deletes this object at once, or checks that the store
 * does not have it.
 */
export function probeKey(id: string): string {
  return `probe/status/${id}`;
}
