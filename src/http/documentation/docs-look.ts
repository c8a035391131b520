/** How the two pages to try the interface look, and what they may load: nothing from anywhere else. */

/**
 * Without upgrade-insecure-requests, which breaks the pages wherever there is no TLS. No form may be
 * sent the browser's own way: a password would be in an address, or in whatever a script put there.
 */
export const DOCS_POLICY = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
} as const;

export const DOCS_POLICY_TEXT = Object.entries(DOCS_POLICY)
  .map(([name, value]) => `${name} ${value}`)
  .join('; ');

export const LOOK_STYLE = `
:root { color-scheme: light dark; }
html.dark-mode body { background: #1c2022; }
.swagger-ui .info { margin: 24px 0; overflow-wrap: anywhere; }
/* There is one server: this one. */
.swagger-ui .scheme-container .schemes .schemes-server-container { display: none; }
.swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui :focus-visible { outline: 3px solid #4990e2; outline-offset: 2px; }
.swagger-ui .info a, .swagger-ui .renderedMarkdown a { color: #1a5fb4; }
html.dark-mode .swagger-ui .info a, html.dark-mode .swagger-ui .renderedMarkdown a { color: #8cc0ff; }
@media (max-width: 600px) {
  .swagger-ui .wrapper, .swagger-ui .information-container.wrapper { padding: 0 12px; }
  .swagger-ui .opblock .opblock-summary-description { display: none; }
  .swagger-ui .opblock .opblock-summary-path { overflow-wrap: anywhere; max-width: 100%; }
  .swagger-ui .opblock-tag { font-size: 20px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 1 100%; order: 1; padding: 0 0 4px; }
  .swagger-ui table tbody tr td { padding: 8px 4px 0 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; min-width: 0; }
}
`;

/** The package's page says neither how wide it is nor that it can be dark. */
export const LOOK_SCRIPT = `
if (document.querySelector('meta[name=viewport]') === null) {
  const viewport = document.createElement('meta');
  viewport.name = 'viewport';
  viewport.content = 'width=device-width, initial-scale=1';
  document.head.append(viewport);
}
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;
