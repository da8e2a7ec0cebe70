import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { renderComponents } from "#control-plane/surfaces/dashboard/status-pages/components.ts";
import { CHECKBOXES, TEXTS, type TypedPage } from "#control-plane/surfaces/dashboard/status-pages/values.ts";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { MOST_HOST } from "#control-plane/public/status-pages/settings/domain.ts";
import {
  MOST_DESCRIPTION,
  MOST_FOOTER,
  MOST_HOMEPAGE,
  MOST_NAME,
} from "#control-plane/public/status-pages/settings/page-settings.ts";
import { MOST_SLUG } from "#control-plane/public/status-pages/settings/slug.ts";
import type { ShownPage } from "#control-plane/public/status-pages/show-page.ts";
import { readLogo } from "#control-plane/public/status-pages/logos/logo.ts";

/** The form of a status page. */
export interface PageForm {
  /** The page as it is stored; null: it is a new one. */
  readonly page: ShownPage | null;
  readonly typed: TypedPage;
  /** The logo of the stored page as a data URI; null: it has none. */
  readonly logo: string | null;
  /** What is searched for among the monitors. */
  readonly find: string;
  /** What is wrong, by the path of the field; "": the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
  /** All monitors of the account. */
  readonly monitors: readonly ListedMonitor[];
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  /** Whether the member may see the addresses of subscribers. */
  readonly canManage: boolean;
}

const renderHead: (head: {
  readonly title: string;
  readonly id: number | null;
  readonly canManage: boolean;
  readonly url: string;
}) => string = compileTemplate(`
<div class="head"><h1 dir="auto"><%= it.title %></h1><% if (it.id !== null) { %><div class="row">
<a class="button" href="/app/status-pages/<%= it.id %>/preview">${STATUS_PAGES.open}</a>
<% if (it.canManage) { %><a class="button" href="/app/status-pages/<%= it.id %>/subscribers">${STATUS_PAGES.subscribersLink}</a><% } %>
<a class="button danger" href="/app/status-pages/<%= it.id %>/delete">${STATUS_PAGES.delete}</a></div><% } %></div>
<% if (it.id !== null) { %><p><a href="<%= it.url %>"><%= it.url %></a></p><% } %>
`);

// Enter in a field takes the first button of the form: it must not be one that takes a monitor off the page.
const renderOpening: (form: { readonly action: string }) => string = compileTemplate(`
<form class="stack" method="post" action="<%= it.action %>" enctype="multipart/form-data"><button class="hidden" name="do" value="enter" tabindex="-1" aria-hidden="true">${STATUS_PAGES.save}</button>
`);

const renderDomain: (domain: {
  readonly state: string;
  readonly tone: string;
  readonly hint: string;
  readonly record: { readonly name: string; readonly value: string };
  readonly canAsk: boolean;
}) => string = compileTemplate(`
<div class="card"><p><span class="badge <%= it.tone %>"><%= it.state %></span> <%= it.hint %></p>
<div class="field"><label for="record-name">${STATUS_PAGES.recordName}</label><input id="record-name" class="mono" readonly value="<%= it.record.name %>"></div>
<div class="field"><label for="record-value">${STATUS_PAGES.recordValue}</label><input id="record-value" class="mono" readonly value="<%= it.record.value %>"></div>
<p class="row"><button type="button" data-copy="record-value">${STATUS_PAGES.copy}</button><% if (it.canAsk) { %><button form="check-domain">${STATUS_PAGES.checkAgain}</button><% } %></p></div>
`);

const renderEnd: (end: { readonly preview: string }) => string = compileTemplate(`
<div class="row"><button class="primary" name="do" value="save">${STATUS_PAGES.save}</button>
<button formaction="<%= it.preview %>" formtarget="preview" formnovalidate data-auto>${STATUS_PAGES.preview}</button>
<a href="/app/status-pages">${STATUS_PAGES.cancel}</a></div></form>
`);

const renderFrame: (frame: { readonly id: number | null; readonly formToken: string }) => string = compileTemplate(`
<% if (it.id !== null) { %><form id="check-domain" method="post" action="/app/status-pages/<%= it.id %>/domain"><input type="hidden" name="_csrf" value="<%= it.formToken %>"></form><% } %>
<h2 id="preview">${STATUS_PAGES.previewTitle}</h2><p class="faint">${STATUS_PAGES.previewHint}</p>
<iframe class="preview" name="preview" title="${STATUS_PAGES.previewTitle}" sandbox></iframe>
`);

/** Renders the form of a page. */
export function renderPageForm({
  page,
  typed,
  logo,
  find,
  problems,
  monitors,
  formToken,
  canManage,
}: PageForm): string {
  const id = page?.id ?? null;
  const action = id === null ? "/app/status-pages/new" : `/app/status-pages/${id}`;
  const others = Array.from(problems).filter(([name]) => !isPlaced(name));
  const problemOf = (name: string) => problems.get(name) ?? null;
  const input = (name: "title" | "slug" | "homepage_url" | "accent_color" | "domain", maxLength: number) => {
    const { label, hint } = STATUS_PAGES.fields[name];
    const isRequired = name === "title" || name === "slug";
    const shown = { name, label, value: typed.texts[name], problem: problemOf(name), maxLength, isRequired };
    return renderInput(hint === "" ? shown : { ...shown, hint });
  };
  const lines = (name: "description" | "footer", most: number) =>
    renderTextarea(name, typed.texts[name], { problem: problemOf(name), most });
  const choice = (name: (typeof CHECKBOXES)[number]) => renderCheckbox(name, typed.checked.has(name), problemOf(name));
  const minutes = "auto_incidents_after_minutes";
  return [
    renderHead({ title: page?.title ?? STATUS_PAGES.create, id, url: page === null ? "" : visibleAt(page), canManage }),
    others.length === 0 ? "" : renderNote("bad", others.map(([, message]) => message).join(" ")),
    problems.size > others.length ? renderNote("bad", STATUS_PAGES.problems) : "",
    renderOpening({ action }),
    renderHidden("_csrf", formToken),
    input("title", MOST_NAME),
    input("slug", MOST_SLUG),
    input("homepage_url", MOST_HOMEPAGE),
    lines("description", MOST_DESCRIPTION),
    lines("footer", MOST_FOOTER),
    renderLogoField(typed, logo, problemOf("logo")),
    input("accent_color", MOST_COLOUR),
    renderComponents(typed, monitors, { find, problems }),
    choice("is_public"),
    choice("show_causes"),
    choice("response_graph"),
    choice("auto_incidents"),
    renderInput({
      name: minutes,
      ...STATUS_PAGES.fields[minutes],
      value: typed.texts[minutes],
      problem: problemOf(minutes),
      maxLength: 5,
    }),
    input("domain", MOST_HOST),
    page === null ? "" : renderDomainOf(page),
    renderEnd({ preview: `${action}/preview` }),
    renderFrame({ id, formToken }),
  ].join("");
}

function renderDomainOf(page: ShownPage): string {
  const { domain_state: state, domain_record: record, domain_note: note } = page;
  if (state === null || record === null) return "";
  const isMissing = state === "verified" && note !== null;
  const tone = isMissing ? "warn" : { pending: "warn", verified: "good", failed: "bad" }[state];
  const hint = isMissing ? note : [STATUS_PAGES.domainHints[state], note ?? ""].join(" ");
  return renderDomain({ state: wordsOfDomain(page), tone, hint, record, canAsk: state !== "verified" || isMissing });
}

/** Returns where a member sees a page: a private one below the service alone, where he is signed in. */
export function visibleAt({ is_public: isPublic, slug, url }: ShownPage): string {
  return isPublic ? url : `/status/${slug}`;
}

/** Returns the state of a page's domain in words; "": it has none. */
export function wordsOfDomain({ domain_state: state, domain_note: note }: ShownPage): string {
  if (state === "verified" && note !== null) return STATUS_PAGES.domainMissing;
  return state === null ? "" : STATUS_PAGES.domainStates[state];
}

/** Characters of a colour, with some space around it. */
const MOST_COLOUR = 30;
const FIELDS: ReadonlySet<string> = new Set([
  ...TEXTS,
  ...CHECKBOXES,
  "logo",
  "auto_incidents_after_minutes",
  "groups",
]);

/** Reports whether a problem has a place beside its field. */
function isPlaced(name: string): boolean {
  return FIELDS.has(name) || /^(?:monitors|groups)\.\d/.test(name);
}

interface Texts {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly described: string;
}

const renderLines: (field: Texts & { readonly value: string; readonly most: number }) => string = compileTemplate(`
<div class="field"><label for="f-<%= it.name %>"><%= it.label %></label>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<textarea id="f-<%= it.name %>" name="<%= it.name %>" rows="3" maxlength="<%= it.most %>"<% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true"<% } %>>
<%= it.value %></textarea></div>
`);

/** Renders a field of several lines. */
function renderTextarea(
  name: "description" | "footer",
  value: string,
  { problem, most }: { readonly problem: string | null; readonly most: number },
): string {
  return renderLines({ ...textsOf(name, problem), value, most });
}

const renderChoice: (field: Texts & { readonly isChecked: boolean }) => string = compileTemplate(`
<div class="field"><div class="choice"><input type="checkbox" id="f-<%= it.name %>" name="<%= it.name %>" value="on"<% if (it.isChecked) { %> checked<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>>
<label for="f-<%= it.name %>"><%= it.label %></label></div>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %></div>
`);

/** Renders a field that is set or not. */
function renderCheckbox(name: keyof typeof STATUS_PAGES.fields, isChecked: boolean, problem: string | null): string {
  return renderChoice({ ...textsOf(name, problem), isChecked });
}

const renderFile: (
  field: Texts & { readonly shown: string | null; readonly kept: string | null; readonly removes: boolean },
) => string = compileTemplate(`
<div class="field"><label for="f-logo"><%= it.label %></label><p class="hint" id="h-logo"><%= it.hint %></p>
<% if (it.problem !== null) { %><p class="problem" id="p-logo"><%= it.problem %></p><% } %>
<% if (it.shown !== null) { %><p><img class="logo" src="<%= it.shown %>" alt="<%= it.kept === null ? "${STATUS_PAGES.logoPresent}" : "${STATUS_PAGES.logoChosen}" %>"></p><% } %>
<% if (it.kept !== null) { %><input type="hidden" name="logo_kept" value="<%= it.kept %>"><% } %>
<input type="file" id="f-logo" name="logo" accept="image/png,image/jpeg,image/webp" aria-describedby="<%= it.described %>"<% if (it.problem !== null) { %> aria-invalid="true"<% } %>>
<% if (it.shown !== null) { %><div class="choice"><input type="checkbox" id="f-remove_logo" name="remove_logo" value="on"<% if (it.removes) { %> checked<% } %>><label for="f-remove_logo">${STATUS_PAGES.removeLogo}</label></div><% } %></div>
`);

/**
 * Renders the field of the logo. `stored`: that of the saved page, as a data URI. One that was chosen goes along with the
 * form: browsers do not keep the choice of a file.
 */
function renderLogoField(
  { logo, removesLogo: removes }: Pick<TypedPage, "logo" | "removesLogo">,
  stored: string | null,
  problem: string | null,
): string {
  const kept = logo !== null && readLogo(logo).ok ? logo : null;
  return renderFile({ ...textsOf("logo", problem), shown: kept ?? stored, kept, removes });
}

function textsOf(name: keyof typeof STATUS_PAGES.fields, problem: string | null): Texts {
  const { label, hint } = STATUS_PAGES.fields[name];
  const described = [...(hint === "" ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])].join(" ");
  return { name, label, hint, problem, described };
}
