import { showHidden } from "#shared/text/hidden-characters.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { Bar, Presentation } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Width of the axis of bars in units of their SVG. */
const AXIS = 1_000;
const TONES = { critical: "bad", warning: "warning", info: "neutral" } as const;

/** The parts of a presentation in the form that the template writes. */
interface Shown extends Omit<Presentation, "findings" | "series"> {
  readonly findings: readonly (Finding & { readonly tone: string; readonly link: string | null })[];
  readonly series: readonly { readonly title: string; readonly bars: readonly ShownBar[] }[];
}

/** Level of the headings of parts. */
type Level = "h2" | "h3";

interface ShownBar {
  readonly label: string;
  readonly value: string;
  readonly x: number;
  readonly width: number;
}

function partsTemplate(level: Level): (shown: Shown) => string {
  return compileTemplate(`
<% if (it.findings.length > 0) { %>
<${level}>Findings</${level}><ul class="findings">
<% for (const one of it.findings) { %>
<li class="<%= one.tone %>"><strong><%= one.severity %></strong>
<p><%= one.message %><% if (one.where !== null) { %> <span class="faint">(<%= one.where %>)</span><% } %></p>
<% if (one.how !== null) { %><p>Fix: <%= one.how %></p><% } %>
<% if (one.link !== null) { %><p><a href="<%= one.link %>" rel="nofollow noreferrer"><%= one.link %></a></p><% } %>
</li>
<% } %>
</ul>
<% } %>
<% if (it.facts.length > 0) { %>
<${level}>Facts</${level}><table class="facts"><tbody>
<% for (const fact of it.facts) { %>
<tr><th scope="row"><%= fact.label %></th><td class="<%= fact.tone ?? "" %>"><%= fact.value %><% if (fact.unit !== undefined) { %> <%= fact.unit %><% } %></td></tr>
<% } %>
</tbody></table>
<% } %>
<% for (const series of it.series) { %>
<${level}><%= series.title %></${level}><table class="bars"><tbody>
<% for (const bar of series.bars) { %>
<tr><th scope="row"><%= bar.label %></th><td class="number"><%= bar.value %></td>
<td><svg viewBox="0 0 ${AXIS} 10" preserveAspectRatio="none" width="100%" height="16" aria-hidden="true"><rect x="<%= bar.x %>" width="<%= bar.width %>" height="10"/></svg></td></tr>
<% } %>
</tbody></table>
<% } %>
<% for (const table of it.tables) { %>
<${level}><%= table.title %></${level}><div class="scroll" role="group" tabindex="0" aria-label="<%= table.title %>"><table><thead><tr>
<% for (const column of table.columns) { %><th scope="col" class="<%= column.numeric ? "number" : "" %>"><%= column.label %></th><% } %>
</tr></thead><tbody>
<% for (const row of table.rows) { %><tr class="<%= row.tone ?? "" %>">
<% row.cells.forEach((cell, index) => { %><td class="<%= table.columns[index].numeric ? "number" : "" %>"><%= cell %></td><% }) %>
</tr><% } %>
</tbody></table></div>
<% if (table.more > 0) { %><p class="faint">and <%= table.more %> more</p><% } %>
<% } %>
`);
}

const PARTS = { h2: partsTemplate("h2"), h3: partsTemplate("h3") } as const;

const HEADINGS = { h1: headingTemplate("h1"), h2: headingTemplate("h2"), h3: headingTemplate("h3") } as const;

function headingTemplate(level: string): (shown: Pick<Presentation, "verdict" | "headline">) => string {
  return compileTemplate(`<${level}><% if (it.verdict !== "neutral") { %><span class="verdict <%= it.verdict %>"><%= it.verdict %></span>
 <% } %><%= it.headline %></${level}>`);
}

/** Renders verdict and headline of a presentation as a heading. */
export function renderHeading(
  { verdict, headline }: Pick<Presentation, "verdict" | "headline">,
  level: keyof typeof HEADINGS = "h1",
): string {
  return HEADINGS[level]({ verdict, headline: showHidden(headline) });
}

/** Renders findings, facts, bars and tables of a presentation under headings of a level. The templates escape values. */
export function renderPresentation(shown: Presentation, level: Level = "h2"): string {
  return PARTS[level]({
    ...shown,
    facts: shown.facts.map((fact) => ({ ...fact, value: showHidden(fact.value) })),
    findings: shown.findings.map((one) => ({
      ...one,
      message: showHidden(one.message),
      how: one.how === null ? null : showHidden(one.how),
      where: one.where === null ? null : showHidden(one.where),
      tone: TONES[one.severity],
      link: one.reference !== null && /^https?:\/\//.test(one.reference) ? one.reference : null,
    })),
    series: shown.series.map(({ title, unit, bars }) => ({ title, bars: showBars(bars, unit) })),
    tables: shown.tables.map((table) => ({
      ...table,
      rows: table.rows.map((row) => ({ ...row, cells: row.cells.map((cell) => showHidden(cell)) })),
    })),
  });
}

function showBars(bars: readonly Bar[], unit: string): readonly ShownBar[] {
  const end = Math.max(...bars.map(({ start, length }) => start + length));
  const scale = (value: number): number => (end > 0 ? Math.round((value / end) * AXIS) : 0);
  return bars.map(({ label, start, length }) => ({
    label: showHidden(label),
    value: `${milliseconds(length)} ${unit}`,
    x: scale(start),
    width: Math.max(2, scale(length)),
  }));
}
