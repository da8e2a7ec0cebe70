import { showHidden } from "#shared/text/hidden-characters.ts";
import type { LocationFacts } from "#control-plane/watching/checking/facts.ts";
import { renderAgo, renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { KNOWN } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const LOCATIONS_TOP = `<section class="card"><h2>${KNOWN.locations}</h2>
<div class="scroll" role="group" tabindex="0" aria-label="${KNOWN.locations}"><table class="cards"><thead><tr><th scope="col">${KNOWN.location}</th><th scope="col">${KNOWN.verdict}</th><th scope="col">${KNOWN.since}</th><th scope="col">${KNOWN.cause}</th></tr></thead><tbody>`;

const renderPlace: (place: { readonly location: string; readonly word: string; readonly tone: string }) => string =
  compileTemplate(`<td><%= it.location %></td><td><span class="badge <%= it.tone %>"><%= it.word %></span></td>`);

const renderCause: (cause: { readonly text: string }) => string = compileTemplate(`<td><%= it.text %></td></tr>`);

/** Renders what each location says, and since when, while one of several fails: of a single one, the head says it. */
export function renderLocations(locations: readonly LocationFacts[], { now, viewer }: MonitorPage): string {
  if (locations.length < 2 || !locations.some(({ verdict }) => verdict === "down")) return "";
  const rows = locations.map(({ location, verdict, since, fault }) => {
    const place = renderPlace({ location, ...STATE_WORDS[verdict] });
    return `<tr>${place}<td data-label="${KNOWN.since}">${renderAgo(since, now, viewer)}</td>${renderCause({ text: fault?.message ?? "" })}`;
  });
  return `${LOCATIONS_TOP}${rows.join("")}</tbody></table></div></section>`;
}

const renderEnd: (end: { readonly title: string; readonly words: string; readonly rest: string }) => string =
  compileTemplate(`<h3><%= it.title %></h3><p><%= it.rest %></p><p><%= it.words %>&#32;`);

const renderProblem: (problem: { readonly title: string; readonly text: string }) => string = compileTemplate(
  `<h3><%= it.title %></h3><p class="warn"><%= it.text %></p>`,
);

/** Renders when the certificate and the registration of a monitor end. */
export function renderEnds({ monitor, viewer }: MonitorPage): string {
  const { certificate, certificate_error: lookError, domain, domain_error: registryError } = monitor;
  const parts: string[] = [];
  if (certificate !== null) {
    const { first_to_end: first, subject, issuer, trust_error: distrust } = certificate;
    const top = renderEnd({
      title: KNOWN.certificate,
      words: KNOWN.certificateEnds,
      rest: showHidden(`${subject}, ${issuer}`),
    });
    parts.push(`${top}${renderTime(new Date(first.not_after), viewer)} (${KNOWN.days(first.days_left)})</p>`);
    if (distrust !== null) parts.push(renderProblem({ title: "", text: distrust }).replace("<h3></h3>", ""));
  } else if (lookError !== null) parts.push(renderProblem({ title: KNOWN.certificate, text: lookError.message }));
  if (domain !== null && domain.expires_at !== null) {
    const rest = [domain.name, domain.registrar ?? ""].filter((text) => text !== "").join(", ");
    const top = renderEnd({ title: KNOWN.domain, words: KNOWN.domainEnds, rest: showHidden(rest) });
    const days = domain.days_left === null ? "" : ` (${KNOWN.days(domain.days_left)})`;
    parts.push(`${top}${renderTime(new Date(domain.expires_at), viewer)}${days}</p>`);
  } else if (domain?.end_published === false) {
    parts.push(renderProblem({ title: KNOWN.domain, text: KNOWN.noEnd(domain.name) }));
  } else if (registryError !== null) parts.push(renderProblem({ title: KNOWN.domain, text: registryError.message }));
  return parts.length === 0 ? "" : `<section class="card">${parts.join("")}</section>`;
}

const renderMemberList: (list: {
  readonly rows: readonly {
    readonly id: number;
    readonly name: string;
    readonly word: string;
    readonly tone: string;
  }[];
}) => string = compileTemplate(`
<section class="card"><h2>${KNOWN.members}</h2><ul><% for (const row of it.rows) { %><li><a href="/app/monitors/<%= row.id %>"><%= row.name %></a> <span class="badge <%= row.tone %>"><%= row.word %></span></li><% } %></ul></section>
`);

/** Renders the monitors that a composite follows, with their states. */
export function renderMembers({ monitor }: MonitorPage): string {
  if (monitor.composite === null) return "";
  return renderMemberList({
    rows: monitor.composite.members.map(({ id, name, status }) => {
      return { id, name: name === "" ? String(id) : name, ...STATE_WORDS[status] };
    }),
  });
}

const renderShots: (pictures: {
  readonly id: number;
  readonly shots: readonly { readonly label: string; readonly picture: number }[];
  readonly changed: string;
  readonly formToken: string | null;
}) => string = compileTemplate(`
<section class="card"><h2>${KNOWN.pictures}</h2><% if (it.changed !== "") { %><p><%= it.changed %></p><% } %>
<div class="shots"><% for (const shot of it.shots) { %><figure><a href="/app/monitors/<%= it.id %>/pictures/<%= shot.picture %>"><img src="/app/monitors/<%= it.id %>/pictures/<%= shot.picture %>" alt="<%= shot.label %>" loading="lazy" width="320"></a><figcaption><%= shot.label %></figcaption></figure><% } %></div>
<% if (it.formToken !== null) { %><form method="post" action="/app/monitors/<%= it.id %>/accept"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button>${KNOWN.accept}</button></form><% } %></section>
`);

/** Renders the pictures of a visual monitor that count: the accepted one, the newest one, and where they differ. */
export function renderPictures({ monitor, formToken, canWrite }: MonitorPage): string {
  if (monitor.visual === null) return "";
  const { accepted, latest } = monitor.visual;
  const shots = [
    ...(accepted === null ? [] : [{ label: KNOWN.accepted, picture: accepted.picture_id }]),
    ...(latest === null ? [] : [{ label: KNOWN.latest, picture: latest.picture_id }]),
    ...(latest === null || latest.difference_picture_id === null
      ? []
      : [{ label: KNOWN.difference, picture: latest.difference_picture_id }]),
  ];
  if (shots.length === 0) return "";
  const isNew = latest !== null && latest.picture_id !== accepted?.picture_id;
  return renderShots({
    id: monitor.id,
    shots,
    changed: isNew ? KNOWN.changed(latest.changed_percent) : "",
    formToken: canWrite && isNew ? formToken : null,
  });
}
