import { html } from 'ghtml';
import { notesFor, type Release } from '../domain/release.ts';
import { renderMarkdown } from './markdown.ts';

/** The pages are in English. */
const LANGUAGE = 'en';

/** The release notes of a release as HTML, in English if there are English notes; empty without notes. */
export function renderNotes({ notes }: Pick<Release, 'notes'>): string {
  const text = notesFor(notes, LANGUAGE);
  if (text === null || text.trim() === '') return '';
  const language = Object.keys(notes).find((tag) => notes[tag] === text) ?? 'und';
  const rendered = renderMarkdown(text);
  return language === 'und'
    ? html`<div class="notes" dir="auto">!${rendered}</div>`
    : html`<div class="notes" dir="auto" lang="${language}">!${rendered}</div>`;
}
