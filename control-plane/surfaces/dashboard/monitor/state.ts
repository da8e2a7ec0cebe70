import { showHidden } from "#shared/text/hidden-characters.ts";
import type { LocationStatus } from "#control-plane/watching/checking/monitor-status.ts";
import { renderAgo, renderTime } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/**
 * Renders what each location says, and since when, while one of several fails: of a single one, the head says it. null if there
 * is nothing to say.
 */
export function renderLocations(locations: readonly LocationStatus[], { now, viewer }: MonitorPage): Html | null {
  if (locations.length < 2 || !locations.some(({ verdict }) => verdict === "down")) return null;
  const rows = locations.map(({ location, verdict, since, fault }) => {
    const { word, tone } = STATE_LABELS[verdict];
    return html`
      <tr>
        <td>${location}</td>
        <td><span class="badge ${tone}">${word}</span></td>
        <td data-label="Since">${renderAgo(since, now, viewer)}</td>
        <td>${fault?.message}</td>
      </tr>`;
  });
  return html`
    <section class="card">
      <h2>Locations</h2>
      <div class="scroll" role="group" tabindex="0" aria-label="Locations">
        <table class="cards">
          <thead><tr><th scope="col">Location</th><th scope="col">State</th><th scope="col">Since</th><th scope="col">Cause</th></tr></thead>
          <tbody>${rows}</tbody>
        </table>
      </div>
    </section>`;
}

/** Renders when the certificate and the registration of a monitor end; null if nothing is known of them. */
export function renderEnds(page: MonitorPage): Html | null {
  const [certificate, domain] = [renderCertificate(page), renderDomain(page)];
  return certificate === null && domain === null ? null : html`<section class="card">${certificate}${domain}</section>`;
}

function renderCertificate({ monitor, viewer }: MonitorPage): Html | null {
  const { certificate, certificate_error: failure } = monitor;
  if (certificate === null)
    return failure === null ? null : html`<h3>Certificate</h3>${renderWarning(failure.message)}`;
  const { first_to_end: first, subject, issuer, trust_error: distrust } = certificate;
  return html`
    <h3>Certificate</h3>
    <p>${showHidden(`${subject}, ${issuer}`)}</p>
    <p>The first certificate of its chain ends ${renderTime(new Date(first.not_after), viewer)} (${writeDays(first.days_left)})</p>
    ${distrust !== null && renderWarning(distrust)}`;
}

function renderDomain({ monitor, viewer }: MonitorPage): Html | null {
  const { domain, domain_error: failure } = monitor;
  if (domain !== null && domain.expires_at !== null) {
    const { name, registrar, expires_at: end, days_left: days } = domain;
    return html`
      <h3>Domain</h3>
      <p>${showHidden([name, registrar ?? ""].filter((text) => text !== "").join(", "))}</p>
      <p>The registration ends ${renderTime(new Date(end), viewer)}${days !== null && ` (${writeDays(days)})`}</p>`;
  }
  const warning =
    domain?.end_published === false
      ? `${domain.name}: its registry publishes no end. Only presence and status are watched.`
      : failure?.message;
  return warning === undefined ? null : html`<h3>Domain</h3>${renderWarning(warning)}`;
}

function renderWarning(text: string): Html {
  return html`<p class="warn">${text}</p>`;
}

function writeDays(days: number): string {
  return days < 0 ? `${counted(-days, "day")} ago` : `in ${counted(days, "day")}`;
}

/** Renders the monitors that a composite follows, with their states; null if it is none. */
export function renderMembers({ monitor }: MonitorPage): Html | null {
  if (monitor.composite === null) return null;
  const rows = monitor.composite.members.map(({ id, name, status }) => {
    const { word, tone } = STATE_LABELS[status];
    return html`<li><a href="/app/monitors/${id}">${name === "" ? id : name}</a> <span class="badge ${tone}">${word}</span></li>`;
  });
  return html`<section class="card"><h2>The monitors that it follows</h2><ul>${rows}</ul></section>`;
}

/**
 * Renders the pictures of a visual monitor that count: the accepted one, the newest one, and where they differ; null if there
 * are none.
 */
export function renderPictures({ monitor, formToken, canWrite }: MonitorPage): Html | null {
  const { id, visual } = monitor;
  if (visual === null || (visual.accepted === null && visual.latest === null)) return null;
  const { accepted, latest } = visual;
  const isNew = latest !== null && latest.picture_id !== accepted?.picture_id;
  const renderPicture = (label: string, picture: number): Html => html`
    <figure><a href="/app/monitors/${id}/pictures/${picture}"><img src="/app/monitors/${id}/pictures/${picture}" alt="${label}" loading="lazy" width="320"></a><figcaption>${label}</figcaption></figure>`;
  return html`
    <section class="card">
      <h2>Pictures</h2>
      ${isNew && html`<p>${latest.changed_percent} % differ</p>`}
      <div class="shots">
        ${accepted !== null && renderPicture("Accepted", accepted.picture_id)}
        ${latest !== null && renderPicture("Newest", latest.picture_id)}
        ${latest !== null && latest.difference_picture_id !== null && renderPicture("Difference", latest.difference_picture_id)}
      </div>
      ${
        canWrite &&
        isNew &&
        html`
          <form method="post" action="/app/monitors/${id}/accept">
            <input type="hidden" name="_csrf" value="${formToken}">
            <button>Accept the newest</button>
          </form>`
      }
    </section>`;
}
