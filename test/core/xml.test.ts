import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childrenOf, childText, escapeXml, parseXml } from '../../src/core/xml.ts';
import { character } from '../support/character.ts';
import { cpuTimeOf } from '../support/cpu-time.ts';

describe('parseXml', () => {
  it('reads names with prefixes, attributes, text and CDATA', () => {
    const root = parseXml(
      `<?xml version="1.0"?><rss xmlns:s="x"><!-- <!DOCTYPE a> --><item s:os='mac &amp; "x"'>a &lt;b&gt;<s:c>1.0</s:c><![CDATA[<!DOCTYPE html>]]></item></rss>`,
    );
    const [item] = childrenOf(root, 'item');
    expect(root.name).toBe('rss');
    expect(item?.attributes).toEqual({ 's:os': 'mac & "x"' });
    expect(item?.text).toBe('a <b><!DOCTYPE html>');
    expect(item && childText(item, 's:c')).toBe('1.0');
  });

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['a growing entity', '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a>&c;</a>'],
    [
      'a document type that attributes hide',
      '<a b="<![CDATA["><!DOCTYPE a [<!ENTITY x "yyy">]><c d="]]>">&x;</c></a>',
    ],
    ['a document type behind a comment', '<a><!-- --><!DOCTYPE a><b/><!-- --></a>'],
    ['a document type in lower case', '<!doctype a><a/>'],
    ['no end', '<a><b></a>'],
    ['no element', 'text'],
    ['nothing', ''],
    ['two roots', '<a/><b/>'],
    ['deep nesting', `${'<a>'.repeat(5000)}${'</a>'.repeat(5000)}`],
  ])('refuses %s', (_name, text) => {
    expect(() => parseXml(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('reads the entities and characters of XML, and no others', () => {
    const { text } = parseXml('<a>&lt;&#65;&#x42;&#x1F600;&#0;&#xD800;&nbsp;&toString;</a>');
    expect(text).toBe('<AB\u{1f600}&nbsp;&toString;');
  });

  it.each(['<!--', '<![CDATA[', '<?', '<b ', '<b>'])('refuses a megabyte of %s in time', (part) => {
    const refuse = () =>
      expect(() => parseXml(`<a>${part.repeat(1_000_000 / part.length)}</a>`)).toThrow(
        expect.objectContaining({ message: expect.stringMatching(/^.{1,300}$/s) }),
      );
    expect(cpuTimeOf(refuse)).toBeLessThan(5_000);
  });
});

describe('escapeXml', () => {
  it('is read back as the text, without what XML cannot contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (text) => {
        const { attributes, text: read } = parseXml(
          `<a b="${escapeXml(text)}">${escapeXml(text)}</a>`,
        );
        // A parser reads every kind of line end as \n.
        const kept = [...text]
          .filter((c) => /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(c))
          .join('')
          .replace(/\r\n?/g, '\n');
        expect(read).toBe(kept);
        expect(attributes.b?.replace(/\s/g, '')).toBe(kept.replace(/\s/g, ''));
      }),
    );
  });

  it('ends no CDATA section and no element', () => {
    expect(escapeXml(']]></item>\u0000\ud800')).toBe(']]&gt;&lt;/item&gt;');
  });
});
