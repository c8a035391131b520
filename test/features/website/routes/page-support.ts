import { expect } from 'vitest';
import { MACHINE_HEADERS } from '../../../../src/server/visitor-machine.ts';
import { get } from '../../../server/support.ts';
import type { TestService } from '../../../support/service.ts';

/** What the tests of the pages share. */

export const AGENTS = {
  windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.1 Safari/605.1.15',
  linux: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  phone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148',
  unknown: 'curl/8.9.1',
} as const;

/** The policy of every page. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const VARY = MACHINE_HEADERS;

/** Asks for a page, and expects what holds for each: no script, no style, nothing of another host, no expiring link. */
export async function page(
  service: TestService,
  url: string,
  agent: keyof typeof AGENTS = 'windows',
  headers: Record<string, string> = {},
) {
  const answer = await get(service, url, { 'user-agent': AGENTS[agent], ...headers });
  const html = String(answer.body);
  expect(answer.headers['content-type'], url).toBe('text/html; charset=utf-8');
  expect(answer.headers['content-security-policy']).toBe(POLICY);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(html).not.toMatch(/<script|<style|<form|<iframe|\sstyle=|\son\w+="|javascript:/i);
  expect(html).not.toMatch(/signature=|expires=|X-Amz|\/files\//i);
  expect(html.match(/<h1/g)).toHaveLength(1);
  expect(html).not.toMatch(/undefined|\[object|NaN|Invalid Date/);
  for (const [, loaded = ''] of html.matchAll(
    /<(?:link rel="(?:stylesheet|icon)"|img)[^>]*(?:href|src)="([^"]*)"/g,
  )) {
    expect(loaded).toMatch(/^\/(?!\/)/);
  }
  expect([...html.matchAll(/ id="([^"]*)"/g)].length).toBe(
    new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)).size,
  );
  return { status: answer.status, headers: answer.headers, html };
}

/** The addresses of the buttons. */
export function buttonsOf(html: string): string[] {
  return [...html.matchAll(/<a class="button" href="([^"]*)"/g)].map(([, address = '']) =>
    unescapeHtml(address),
  );
}

export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d+)|(amp|lt|gt|quot));/g, (_, code?: string, name?: string) =>
    code === undefined
      ? ({ amp: '&', lt: '<', gt: '>', quot: '"' }[String(name)] ?? '')
      : String.fromCodePoint(Number(code)),
  );
}
