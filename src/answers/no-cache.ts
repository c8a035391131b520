/** In characters. Longer addresses are not remembered, because clients choose the addresses. */
export const ADDRESS_LENGTH_MAX = 512;

/** electron-updater adds this parameter with a new value to each request, so that no cache answers. */
const NO_CACHE = 'noCache=';
/** The parameters whose values differ between requests or installations. The last two are ids of an installation. */
const PERSONAL = [NO_CACHE, 'stagingId=', 'installation_id='];

/**
 * The address without the query parameter `noCache`. It is only for routes that do not read this parameter: some
 * dialects read the last parameter, whatever its name is.
 *
 * Nothing is decoded: any other spelling of the parameter stays. An address above the limit stays as it is.
 *
 * @param address the path and query of a request
 */
export function withoutNoCache(address: string): string {
  return address.includes(NO_CACHE) ? without([NO_CACHE], address) : address;
}

/**
 * Like {@link withoutNoCache}, and also without the ids of an installation. It is only for routes that read these
 * parameters as ids or not at all, and for times at which no rollout decides by an id.
 */
export function withoutPersonal(address: string): string {
  return PERSONAL.some((name) => address.includes(name)) ? without(PERSONAL, address) : address;
}

function without(names: readonly string[], address: string): string {
  const question = address.indexOf('?');
  const isUsual = question >= 0 && address.length <= ADDRESS_LENGTH_MAX && !address.includes('#');
  if (!isUsual) return address;
  const query = address.slice(question + 1).split('&');
  const others = query.filter((parameter) => !names.some((name) => parameter.startsWith(name)));
  const path = address.slice(0, question);
  return others.length === 0 ? path : `${path}?${others.join('&')}`;
}
