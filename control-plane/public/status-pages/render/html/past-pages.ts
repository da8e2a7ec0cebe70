import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { ArchiveView, IncidentView, PageView, ShownUpdate } from "#control-plane/public/status-pages/page.ts";
import {
  colourOf,
  renderFacts,
  renderMonth,
  renderUpdateHead,
} from "#control-plane/public/status-pages/render/html/events.ts";
import { homeOf, renderBelow } from "#control-plane/public/status-pages/render/html/frame.ts";
import { formatMonth, INCIDENT_LABELS } from "#control-plane/public/status-pages/render/labels.ts";

/** Renders the page of an incident. `base`: path of the status page, without a slash at its end. */
export function renderIncidentPage({ view, incident, month }: IncidentView, base: string): Html {
  const { id, title, status, updates } = incident;
  const head = headOf(
    view,
    base,
    `${title} - ${view.title}`,
    `${INCIDENT_LABELS[status]}: ${title}`,
    incident.resolvedAt === null,
  );
  return renderBelow(
    { ...head, canonical: `${view.url}/incidents/${id}` },
    html`
      <h1 dir="auto">${title}</h1>
      <div class="e${colourOf(incident)} q">
      ${renderFacts(view, incident)}
      </div>
      <section><h2>Updates</h2>
      ${updates.length === 0 ? html`<p class="w">An automatic check has found this. There are no messages about it.</p>` : html`<ol class="c">${updates.map(renderUpdate)}</ol>`}
      </section>
      <nav aria-label="Other pages"><ul><li><a href="${homeOf(base)}">Present status</a></li>
      ${month !== null && html`<li><a href="${base}/history?month=${month}">Other incidents of that month</a></li>`}</ul></nav>`,
  );
}

function renderUpdate(update: ShownUpdate): Html {
  return html`<li class="e">${renderUpdateHead(update)}<p class="m" dir="auto">${update.text}</p></li>`;
}

/** Renders a month of the archive. `base`: path of the status page, without a slash at its end. */
export function renderArchivePage({ view, archive }: ArchiveView, base: string): Html {
  const { name, previous, next } = archive.month;
  const words = formatMonth(name);
  const head = headOf(
    view,
    base,
    `${words} - ${view.title}`,
    `Incidents and maintenance of ${view.title} in ${words}`,
    false,
  );
  return renderBelow(
    { ...head, canonical: `${view.url}/history?month=${name}` },
    html`
      <h1>Incidents and maintenance</h1>
      ${renderMonth(view, archive, base)}
      <nav aria-label="Months"><ul>${previous !== null && renderMonthLink(base, previous, "prev")}
      ${next !== null && renderMonthLink(base, next, "next")}
      <li><a href="${homeOf(base)}">Present status</a></li></ul></nav>`,
  );
}

function renderMonthLink(base: string, month: string, direction: "prev" | "next"): Html {
  return html`<li><a href="${base}/history?month=${month}" rel="${direction}">${formatMonth(month)}</a></li>`;
}

function headOf(view: PageView, base: string, title: string, preview: string, isRefreshed: boolean) {
  return {
    title,
    description: preview,
    preview,
    base,
    site: view.title,
    look: view,
    overallStatus: view.overallStatus,
    isRefreshed,
  };
}
