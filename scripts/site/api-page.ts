import { createRequire } from 'node:module';
import path from 'node:path';
import { PAGE_SCRIPT, PAGE_STYLE } from '../../src/server/documentation/page-style.ts';

/** The page of the HTTP API: Swagger UI with the files that the service itself serves at /docs. */

export const SWAGGER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const;

export function swaggerFile(name: (typeof SWAGGER_FILES)[number]): string {
  const main = createRequire(import.meta.url).resolve('@fastify/swagger-ui');
  return path.join(path.dirname(main), 'static', name);
}

/** A visitor reads on this page and tries nothing: the website has no service behind it. */
export function renderApiPage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>HTTP API | Slipway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger-ui.css">
<style>
nav { padding: 16px 20px; font: 16px system-ui, sans-serif; }
nav a { color: #1a5fb4; }
html.dark-mode nav a { color: #8cc0ff; }
${PAGE_STYLE}
</style>
</head>
<body>
<nav><a href="../">Slipway</a> · <a href="openapi.json">openapi.json</a></nav>
<main id="swagger-ui"></main>
<script src="swagger-ui-bundle.js"></script>
<script>
${PAGE_SCRIPT}
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  layout: 'BaseLayout',
  supportedSubmitMethods: [],
  validatorUrl: null,
});
</script>
</body>
</html>
`;
}
