/**
 * Forms and images cannot send this header, and browsers do not allow scripts of other sites to send it. So this header
 * proves that a script of the website sent the request.
 */
export const FORGERY_HEADER = 'x-slipway-request';
