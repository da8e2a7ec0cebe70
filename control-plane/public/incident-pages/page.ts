import { STYLE } from "#control-plane/public/incident-pages/style.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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
  /** Address of the same in the dashboard, for readers who sign in; null: there is no such page. */
  readonly dashboardUrl: string | null;
  /** About the page itself. */
  readonly footer: string;
}

const renderBody: (page: Page) => string = compileTemplate(`
<!doctype html><html lang="en"><head><meta charset="utf-8"><title><%= it.state %>: <%= it.name %></title>
<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer"><style>${STYLE}</style></head><body>
<header class="<%= it.tone %>"><h1><%= it.state %>: <%= it.name %></h1>
<% for (const sentence of it.sentences) { %><p><%= sentence %></p><% } %>
</header><main>
<% if (it.canAcknowledge) { %><form method="post"><button type="submit">Acknowledge</button></form><% } %>
<% if (it.facts.length > 0) { %><table class="facts"><tbody>
<% for (const fact of it.facts) { %><tr><th scope="row"><%= fact[0] %></th><td><%= fact[1] %></td></tr><% } %>
</tbody></table><% } %>
<% for (const picture of it.pictures) { %>
<figure><figcaption><%= picture.label %></figcaption><a href="<%= picture.url %>"><img src="<%= picture.url %>" alt="<%= picture.label %>"></a></figure>
<% } %>
<% for (const block of it.blocks) { %>
<% if (block.isOpen) { %><section><h2><%= block.title %></h2><% } else { %><details><summary><%= block.title %></summary><% } %>
<% for (const line of block.lines) { %><p><%= line %></p><% } %>
<% if (block.rows.length > 0) { %><table<% if (block.columns === null) { %> class="facts"<% } %>>
<% if (block.columns !== null) { %><thead><tr><% for (const column of block.columns) { %><th scope="col"><%= column %></th><% } %></tr></thead><% } %>
<tbody><% for (const row of block.rows) { %><tr>
<% for (const [index, cell] of row.entries()) { %><% if (row.length === 1) { %><th scope="rowgroup" colspan="9"><%= cell %></th><% } else if (index === 0 && block.columns === null) { %><th scope="row"><%= cell %></th><% } else { %><td<% if (index > 0 && block.columns !== null && block.columns.length > 2) { %> data-label="<%= block.columns[index] %>"<% } %>><%= cell %></td><% } %><% } %>
</tr><% } %></tbody></table><% } %>
<% if (block.isOpen) { %></section><% } else { %></details><% } %>
<% } %>
<% if (it.dashboardUrl !== null) { %><p><a href="<%= it.dashboardUrl %>">Continue in the dashboard</a></p><% } %>
<p class="m"><%= it.footer %></p>
</main></body></html>
`);

/** Renders a page. It is complete without JavaScript. */
export function renderPage(page: Page): string {
  return `${renderBody(page)}\n`;
}
