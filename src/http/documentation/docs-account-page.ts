import type { FastifyReply } from 'fastify';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import type { App } from '../deps.ts';
import { ACCOUNT_PAGE_SCRIPT } from './docs-account-script.ts';
import { DOCS_POLICY_TEXT } from './docs-look.ts';

/** The page of the signed-in document: sign in, read it, try it. */

const PATH = '/docs/account';

const SIGN_IN = `
<form id="sign-in" method="post">
<p>Sign in to read what an account can do, and to try it with yours.</p>
<label for="email">Mail address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required>
<button type="submit">Sign in</button>
<p class="aside">This page keeps your session in memory alone: reloading or leaving it signs you out.</p>
</form>
<section id="signed-in" aria-label="Your session" hidden>
<p>Signed in as <strong id="who" tabindex="-1"></strong></p>
<button id="sign-out" type="button">Sign out</button>
</section>
<p id="problem" role="alert"></p>
<noscript><p>This page needs JavaScript. <a href="../openapi.json">The public document</a> does not.</p></noscript>`;

const NONE = `
<p>There are no accounts here, and so nothing to sign in to: <code>IDENTITY_PROVIDER</code> is <code>off</code>.
Whoever runs this service can set it.</p>`;

// Addresses are relative: a proxy may have put the service below a path.
const page = (content: string, scripts: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipway for your account</title>
<link rel="stylesheet" href="static/swagger-ui.css">
<link rel="stylesheet" href="static/theme/slipway.css">
<link rel="stylesheet" href="account.css">
<link rel="icon" type="image/png" href="static/favicon-32x32.png">
</head>
<body>
<div class="account">
<nav aria-label="Documents"><a href="../docs">The public interface</a> · <a href="account" aria-current="page">Your account</a></nav>
<main>
<h1>Slipway for your account</h1>${content}
</main>
</div>
<div id="interface"></div>
<script src="static/theme/slipway.js"></script>${scripts}
</body>
</html>
`;

const SCRIPTS = `
<script src="static/swagger-ui-bundle.js"></script>
<script src="account.js"></script>`;

const STYLE = `
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: #fafafa; color: #3b4151; font: 16px/1.5 system-ui, sans-serif; }
.account { max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; }
#sign-in { max-width: 26rem; }
.account h1 { margin: 1.5rem 0 .5rem; font-size: 1.75rem; line-height: 1.2; }
.account p { margin: .5rem 0; }
.account a[aria-current] { text-decoration: none; font-weight: 600; }
.account a { color: #1a5fb4; }
.account label { display: block; margin-top: 1rem; font-weight: 600; }
.account input { width: 100%; margin-top: .25rem; padding: .6rem; border: 1px solid #7d8492; border-radius: 4px; background: #fff; color: inherit; font: inherit; }
.account button { margin-top: 1rem; padding: .6rem 1.25rem; border: 0; border-radius: 4px; background: #1a5fb4; color: #fff; font: inherit; font-weight: 600; cursor: pointer; }
.account button:disabled { background: #5f6b7c; cursor: progress; }
.account .aside { margin-top: 1rem; font-size: .875rem; }
.account [hidden] { display: none; }
.account :focus-visible { outline: 3px solid #4990e2; outline-offset: 2px; }
#who { overflow-wrap: anywhere; }
#problem { font-weight: 600; color: #a51d2d; white-space: pre-line; overflow-wrap: anywhere; }
html.dark-mode body { color: #e4e6e6; }
html.dark-mode .account a { color: #8cc0ff; }
html.dark-mode .account input { border-color: #8a93a3; background: #2a3033; }
html.dark-mode #problem { color: #ff9a9a; }
`;

/** Inside the scope of the routes about accounts: kept by no cache. */
export function registerAccountPage(app: App, deps: Pick<AccountsDeps, 'identity'>): void {
  const whole = deps.identity === undefined ? page(NONE, '') : page(SIGN_IN, SCRIPTS);
  const files = [
    [PATH, 'text/html', whole],
    [`${PATH}.css`, 'text/css', STYLE],
    [`${PATH}.js`, 'text/javascript', ACCOUNT_PAGE_SCRIPT],
  ] as const;
  for (const [path, type, text] of files) {
    app.get(path, { schema: { hide: true } as object }, (_request, typedReply) => {
      const reply: FastifyReply = typedReply as unknown as FastifyReply;
      return reply
        .header('content-security-policy', DOCS_POLICY_TEXT)
        .type(`${type}; charset=utf-8`)
        .send(text);
    });
  }
}
