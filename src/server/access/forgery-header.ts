/**
 * Forms and images cannot send this header, and scripts of other sites are not allowed to. So it proves that a script
 * of the website sent the request.
 */
export const FORGERY_HEADER = 'x-slipway-request';
