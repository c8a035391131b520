/** Answers of proxies and other servers, which say nothing about the store. */
export interface ForeignAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HTML = '<html><body>Welcome to the hotel</body></html>';

const answer = (status: number, type: string, body: string): ForeignAnswer => ({
  status,
  headers: type === '' ? {} : { 'content-type': type },
  body,
});

export const FOREIGN_ANSWERS: Readonly<Record<string, ForeignAnswer>> = {
  '404 HTML': answer(404, 'text/html', HTML),
  '404 without a body': answer(404, '', ''),
  '404 JSON': answer(404, 'application/json', '{"Code":"NoSuchKey","code":"NoSuchKey"}'),
  '404 text': answer(404, 'text/plain', 'NoSuchKey'),
  '404 XHTML': answer(404, 'application/xhtml+xml', `<?xml version="1.0"?>${HTML}`),
  '404 garbage': answer(404, 'application/xml', '\u0000<<<\u00ff'),
  '404 of a store without the bucket': answer(
    404,
    'application/xml',
    '<Error><Code>NoSuchBucket</Code></Error>',
  ),
  '403 HTML': answer(403, 'text/html', HTML),
  '401 without a body': answer(401, '', ''),
  '301 without a body': answer(301, '', ''),
  '302 to a login': {
    status: 302,
    headers: { location: 'http://127.0.0.1:9/login' },
    body: '',
  },
  '405 HTML': answer(405, 'text/html', HTML),
  '501 HTML': answer(501, 'text/html', HTML),
  '507 text': answer(507, 'text/plain', 'full'),
  '412 HTML': answer(412, 'text/html', HTML),
  '200 HTML': answer(200, 'text/html; charset=utf-8', HTML),
  '200 text': answer(200, 'text/plain', 'no'),
  '200 without a body': answer(200, '', ''),
  '200 XHTML': answer(200, 'application/xml', `<?xml version="1.0"?>${HTML}`),
  '204 without a body': answer(204, '', ''),
  '304 without a body': answer(304, '', ''),
};
