import { showHidden } from "#shared/text/hidden-characters.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { Fact, Presentation, Series, Table } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Width of the axis of bars in units of their SVG. */
const AXIS = 1_000;
const TONES = { critical: "bad", warning: "warning", info: "neutral" } as const;

/** Level of the headings of parts. */
type Level = "h2" | "h3";

/** Renders verdict and headline of a presentation as a heading. */
export function renderHeading(
  { verdict, headline }: Pick<Presentation, "verdict" | "headline">,
  level: "h1" | Level = "h1",
): Html {
  const text = showHidden(headline);
  if (verdict === "neutral") return html`<${level}>${text}</${level}>`;
  return html`
    <${level}><span class="verdict ${verdict}">${verdict}</span>
    ${text}</${level}>`;
}

/** Renders findings, facts, bars and tables of a presentation under headings of a level. */
export function renderPresentation({ findings, facts, series, tables }: Presentation, level: Level = "h2"): Html {
  return html`
    ${findings.length > 0 && html`<${level}>Findings</${level}><ul class="findings">${findings.map(renderFinding)}</ul>`}
    ${facts.length > 0 && html`<${level}>Facts</${level}><table class="facts"><tbody>${facts.map(renderFact)}</tbody></table>`}
    ${series.map((one) => renderSeries(one, level))}
    ${tables.map((table) => renderTable(table, level))}`;
}

function renderFinding({ severity, message, where, how, reference }: Finding): Html {
  const isAddress = reference !== null && /^https?:\/\//.test(reference);
  return html`
    <li class="${TONES[severity]}"><strong>${severity}</strong>
    <p>${showHidden(message)}${where !== null && html` <span class="faint">(${showHidden(where)})</span>`}</p>
    ${how !== null && html`<p>Fix: ${showHidden(how)}</p>`}
    ${isAddress && html`<p><a href="${reference}" rel="nofollow noreferrer">${reference}</a></p>`}
    </li>`;
}

function renderFact({ label, value, tone, unit }: Fact): Html {
  const text = html`${showHidden(value)}${unit !== undefined && html` ${unit}`}`;
  return html`<tr><th scope="row">${label}</th><td class="${tone}">${text}</td></tr>`;
}

function renderSeries({ title, unit, bars }: Series, level: Level): Html {
  const end = Math.max(...bars.map(({ start, length }) => start + length));
  const scale = (value: number): number => (end > 0 ? Math.round((value / end) * AXIS) : 0);
  const rows = bars.map(
    ({ label, start, length }) => html`
      <tr><th scope="row">${showHidden(label)}</th><td class="number">${milliseconds(length)} ${unit}</td>
      <td><svg viewBox="0 0 ${AXIS} 10" preserveAspectRatio="none" width="100%" height="16" aria-hidden="true"><rect x="${scale(start)}" width="${Math.max(2, scale(length))}" height="10"/></svg></td></tr>`,
  );
  return html`<${level}>${title}</${level}><table class="bars"><tbody>${rows}</tbody></table>`;
}

function renderTable({ title, columns, rows, more }: Table, level: Level): Html {
  const alignments = columns.map(({ numeric }) => (numeric ? "number" : ""));
  return html`
    <${level}>${title}</${level}><div class="scroll" role="group" tabindex="0" aria-label="${title}"><table><thead><tr>
    ${columns.map(({ label }, index) => html`<th scope="col" class="${alignments[index]}">${label}</th>`)}
    </tr></thead><tbody>
    ${rows.map(
      ({ cells, tone }) => html`
        <tr class="${tone}">
        ${cells.map((cell, index) => html`<td class="${alignments[index]}">${showHidden(cell)}</td>`)}
        </tr>`,
    )}
    </tbody></table></div>
    ${more > 0 && html`<p class="faint">and ${more} more</p>`}`;
}
