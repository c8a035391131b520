/** The parameter by which electron-updater makes each address unique, so that no cache answers. */
const NO_CACHE = 'noCache=';

/**
 * The address without the query parameter `noCache`, which no route reads. Nothing is decoded: any other spelling of the
 * parameter stays, and then the address is like no other.
 *
 * @param address the path and query of a request
 */
export function withoutNoCache(address: string): string {
  const at = address.indexOf(NO_CACHE);
  if (at < 0) return address;
  const question = address.indexOf('?');
  if (question < 0 || address.includes('#')) return address;
  const query = address.slice(question + 1).split('&');
  const others = query.filter((parameter) => !parameter.startsWith(NO_CACHE));
  const path = address.slice(0, question);
  return others.length === 0 ? path : `${path}?${others.join('&')}`;
}
