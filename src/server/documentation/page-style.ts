/** The look of Swagger UI: on the service's own page, and on the website of the documentation. */

/** Hides the list of servers, which has one entry. Adds contrast, a visible focus, and a layout for narrow screens. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; }
html.dark-mode body { background: #1c2022; }
.swagger-ui .schemes-server-container, .swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui .info { margin: 24px 0; overflow-wrap: anywhere; }
.swagger-ui .info a, .swagger-ui .renderedMarkdown a { color: #1a5fb4; }
html.dark-mode .swagger-ui .info a, html.dark-mode .swagger-ui .renderedMarkdown a { color: #8cc0ff; }
.swagger-ui :focus-visible { outline: 3px solid #4990e2; outline-offset: 2px; }
@media (max-width: 600px) {
  .swagger-ui .wrapper, .swagger-ui .information-container.wrapper { padding: 0 12px; }
  .swagger-ui .opblock .opblock-summary-description { display: none; }
  .swagger-ui .opblock .opblock-summary-path { overflow-wrap: anywhere; max-width: 100%; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px; }
  .swagger-ui .opblock-section-header { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 1 100%; order: 1; padding: 0 0 4px; }
  .swagger-ui table tbody tr td { padding: 8px 4px 0 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; min-width: 0; }
}
`;

/**
 * Sets a viewport, and follows the dark mode of the system. Swagger UI's page sets none, and follows the mode only in
 * another layout.
 */
export const PAGE_SCRIPT = `
document.head.insertAdjacentHTML('beforeend', '<meta name="viewport" content="width=device-width, initial-scale=1">');
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;
