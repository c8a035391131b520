/**
 * The style of all elements. An element takes its fonts and colors from the page; with parts and variables, the page
 * can change the rest.
 */

const SHARED = `
:host { display: block; overflow-wrap: anywhere }
:host([hidden]), [hidden] { display: none !important }
* { box-sizing: border-box }
a, summary { color: inherit }
summary { cursor: pointer; width: fit-content }
.button {
  display: inline-block; max-width: 100%; padding: .5em 1em; cursor: pointer; text-decoration: none;
  font: inherit; font-weight: 600; color: var(--slipway-button-color, inherit);
  background: var(--slipway-button-background, color-mix(in srgb, currentColor 10%, transparent));
  border: 1px solid var(--slipway-border, color-mix(in srgb, currentColor 60%, transparent));
  border-radius: var(--slipway-radius, .375em);
}
.button:hover { text-decoration: underline }
[aria-disabled=true] { cursor: progress }
:focus-visible { outline: 2px solid var(--slipway-focus, currentColor); outline-offset: 2px }
.line::before { content: "\\200b" }
`;

/** The rules that a form adds. */
export const FORM = `
form { display: grid; gap: .75em; justify-items: start; max-width: var(--slipway-width, 32em); margin: 0 }
.field { width: 100% }
.field label { display: grid; gap: .25em }
input, textarea {
  width: 100%; padding: .375em .5em; font: inherit; color: inherit;
  background: color-mix(in srgb, currentColor 5%, transparent);
  border: 1px solid var(--slipway-border, color-mix(in srgb, currentColor 60%, transparent));
  border-radius: var(--slipway-radius, .375em);
}
textarea { resize: vertical }
[aria-invalid=true] { border: 2px solid var(--slipway-error, currentColor) }
.error { margin-top: .25em; color: var(--slipway-error, inherit); font-weight: 600 }
p { margin: 0 }
`;

const sheets = new Map<string, CSSStyleSheet>();

/** A sheet that a strict policy for styles allows, shared by all elements that use it. */
export function styleSheet(css: string): CSSStyleSheet {
  const known = sheets.get(css);
  if (known !== undefined) return known;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHARED + css);
  sheets.set(css, sheet);
  return sheet;
}
