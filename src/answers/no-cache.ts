/** In characters. Longer addresses are not remembered, because clients choose the addresses. */
export const ADDRESS_LENGTH_MAX = 512;

/** electron-updater adds this parameter with a new value to each request, so that no cache answers. */
const NO_CACHE = 'noCache=';

/**
 * The address without the query parameter `noCache`. It is only for routes that do not read this parameter: some
 * dialects read the last parameter, whatever its name is.
 *
 * Nothing is decoded: any other spelling of the parameter stays. An address above the limit stays as it is.
 *
 * @param address the path and query of a request
 */
export function withoutNoCache(address: string): string {
  if (address.length > ADDRESS_LENGTH_MAX || !address.includes(NO_CACHE)) return address;
  const question = address.indexOf('?');
  if (question < 0 || address.includes('#')) return address;
  const query = address.slice(question + 1).split('&');
  const others = query.filter((parameter) => !parameter.startsWith(NO_CACHE));
  const path = address.slice(0, question);
  return others.length === 0 ? path : `${path}?${others.join('&')}`;
}
