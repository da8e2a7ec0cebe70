import { STYLE } from "#control-plane/public/incident-pages/style.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** A table with its title, below lines of text. Strings are printable; a cell can have several lines. */
export interface Block {
  readonly title: string;
  /** Whether it is shown at once; otherwise its title opens it, without JavaScript. */
  readonly isOpen: boolean;
  readonly lines: readonly string[];
  /** Titles of the columns; null: the first column has the titles of the rows. */
  readonly columns: readonly string[] | null;
  /** A row of one cell is the heading of those below it. */
  readonly rows: readonly (readonly string[])[];
}

/** What a page shows, the most urgent first. Strings are printable and bounded; the template escapes them. */
export interface Page {
  /** "Down", for the heading. */
  readonly state: string;
  readonly tone: "down" | "up" | "warn" | "note";
  readonly name: string;
  /** Sentences below the heading: the cause, since when, who has acknowledged it. */
  readonly sentences: readonly string[];
  readonly canAcknowledge: boolean;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly pictures: readonly { readonly label: string; readonly url: string }[];
  readonly blocks: readonly Block[];
  /** Address of the same in the dashboard, for readers who sign in; null if there is no such page. */
  readonly dashboardUrl: string | null;
  /** About the page itself. */
  readonly footer: string;
}

/** Renders a page. It is complete without JavaScript. */
export function renderPage({ state, tone, name, sentences, canAcknowledge, facts, pictures, ...page }: Page): Html {
  return html`
    <!doctype html><html lang="en"><head><meta charset="utf-8"><title>${state}: ${name}</title>
    <meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
    <meta name="referrer" content="no-referrer"><style>${STYLE}</style></head><body>
    <header class="${tone}"><h1>${state}: ${name}</h1>
    ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    </header><main>
    ${canAcknowledge && html`<form method="post"><button type="submit">Acknowledge</button></form>`}
    ${facts.length > 0 && renderFacts(facts)}
    ${pictures.map(({ label, url }) => html`<figure><figcaption>${label}</figcaption><a href="${url}"><img src="${url}" alt="${label}"></a></figure>`)}
    ${page.blocks.map(renderBlock)}
    ${page.dashboardUrl !== null && html`<p><a href="${page.dashboardUrl}">Continue in the dashboard</a></p>`}
    <p class="m">${page.footer}</p>
    </main></body></html>`;
}

function renderFacts(facts: Page["facts"]): Html {
  return html`
    <table class="facts"><tbody>
    ${facts.map(([label, value]) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`)}
    </tbody></table>`;
}

function renderBlock(block: Block): Html {
  const { title, isOpen, lines, columns, rows } = block;
  const content = html`
    ${lines.map((line) => html`<p>${line}</p>`)}
    ${rows.length > 0 && html`<table${columns === null && html` class="facts"`}>${renderRows(block)}</table>`}`;
  return isOpen
    ? html`<section><h2>${title}</h2>${content}</section>`
    : html`<details><summary>${title}</summary>${content}</details>`;
}

/** Renders the rows of a block with the titles of its columns. */
export function renderRows({ columns, rows }: Block): Html {
  return html`
    ${columns !== null && html`<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>`}
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => renderCell(cell, index, { row, columns }))}</tr>`)}</tbody>`;
}

function renderCell(
  cell: string,
  index: number,
  { row, columns }: Pick<Block, "columns"> & { readonly row: readonly string[] },
): Html {
  if (row.length === 1) return html`<th scope="rowgroup" colspan="9">${cell}</th>`;
  if (index === 0 && columns === null) return html`<th scope="row">${cell}</th>`;
  const label = index > 0 && columns !== null && columns.length > 2 && html` data-label="${columns[index]}"`;
  return html`<td${label}>${cell}</td>`;
}
