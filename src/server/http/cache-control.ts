/**
 * For an address whose content never changes, because the address has a hash of the content or the version of a file.
 */
export const LASTING = 'public, max-age=31536000, immutable';
