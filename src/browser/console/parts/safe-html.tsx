/**
 * Notes as the server rendered them. It is the only place that puts HTML into the page: the server removes whatever
 * could run or load something, and the page's Content-Security-Policy forbids it as well.
 */
export const SafeHtml = ({ html, locale }: { readonly html: string; readonly locale: string }) => (
  <div
    class="notes"
    dir="auto"
    lang={locale === 'und' ? undefined : locale}
    dangerouslySetInnerHTML={{ __html: html }}
  />
);
