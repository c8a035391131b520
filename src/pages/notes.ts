import { html } from 'ghtml';
import { notesFor, type Release } from '../domain/release.ts';
import { renderMarkdown } from './markdown.ts';

/** The release notes of a release as HTML; empty without notes. */
export function renderNotes({ notes }: Pick<Release, 'notes'>): string {
  const text = notesFor(notes, null);
  if (text === null || text.trim() === '') return '';
  const language = Object.keys(notes).find((tag) => notes[tag] === text) ?? 'und';
  const rendered = renderMarkdown(text);
  return language === 'und'
    ? html`<div class="notes" dir="auto">!${rendered}</div>`
    : html`<div class="notes" dir="auto" lang="${language}">!${rendered}</div>`;
}
