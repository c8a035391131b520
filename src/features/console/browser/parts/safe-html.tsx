/**
 * Notes as the server rendered them. Only this component puts HTML into the page: the server removes
 * everything that could run or load something, and the page's Content-Security-Policy forbids it, too.
 */
export const SafeHtml = ({ html, locale }: { readonly html: string; readonly locale: string }) => (
  <div
    class="notes"
    dir="auto"
    lang={locale === 'und' ? undefined : locale}
    dangerouslySetInnerHTML={{ __html: html }}
  />
);
