import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Content of a mail, before it is laid out as text and as HTML. Every string is one line. */
export interface Letter {
  readonly subject: string;
  readonly headline: string;
  readonly paragraphs: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** A list with its title; null if there is none. */
  readonly list: {
    readonly title: string;
    readonly items: readonly string[];
    /** Where the items with these positions lead; absent: nowhere. */
    readonly urls?: readonly string[];
  } | null;
  readonly links: readonly (readonly [label: string, url: string])[];
  /** Why the reader gets this mail. */
  readonly footer: string;
}

/** Lays a letter out as plain text. */
export function renderText({ headline, paragraphs, facts, list, links, footer }: Letter): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length), ...links.map(([label]) => label.length)) + 1;
  const line = ([label, value]: readonly [string, string]) => `${`${label}:`.padEnd(width + 1)}${value}`;
  const blocks = [
    [headline],
    paragraphs,
    facts.map(line),
    list === null ? [] : [`${list.title}:`, ...list.items.flatMap((item, index) => listItem(item, list.urls?.[index]))],
    links.map(line),
    ["-- ", footer],
  ];
  const filled = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${filled.join("\n\n")}\n`;
}

function listItem(item: string, url: string | undefined): readonly string[] {
  return url === undefined ? [`- ${item}`] : [`- ${item}`, `  ${url}`];
}

/** Lays a letter out as HTML that needs no pictures and no style sheet. */
export function renderHtml({ subject, headline, paragraphs, facts, list, links, footer }: Letter): Html {
  return html`
    <!doctype html><html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
    <body style="font:16px/1.5 sans-serif;color:#1a1a1a;max-width:40em">
    <h1 style="font-size:1.2em">${headline}</h1>
    ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
    ${facts.length > 0 && html`<table style="border-collapse:collapse">${facts.map(renderFact)}</table>`}
    ${list !== null && html`<p>${list.title}:</p><ul>${list.items.map((item, index) => renderItem(item, list.urls?.[index]))}</ul>`}
    ${links.map(([label, url]) => html`<p>${label}: <a href="${url}">${url}</a></p>`)}
    <p style="color:#555;font-size:.85em">${footer}</p>
    </body></html>`;
}

function renderFact([label, value]: Letter["facts"][number]): Html {
  return html`
    <tr><th style="text-align:left;vertical-align:top;font-weight:normal;color:#555;padding:.1em 1em .1em 0">${label}</th>
    <td style="overflow-wrap:anywhere">${value}</td></tr>`;
}

function renderItem(item: string, url: string | undefined): Html {
  return html`<li>${url === undefined ? item : html`<a href="${url}">${item}</a>`}</li>`;
}
