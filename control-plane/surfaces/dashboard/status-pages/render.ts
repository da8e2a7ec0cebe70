import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { readLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import { type ShownPage, statusPage } from "#control-plane/public/status-pages/settings/resource.ts";
import { renderHidden, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import {
  askedFields,
  describedBy,
  renderFields,
  renderTexts,
} from "#control-plane/surfaces/dashboard/layout/resource-form.ts";
import { renderComponents } from "#control-plane/surfaces/dashboard/status-pages/components.ts";
import type { TypedPage } from "#control-plane/surfaces/dashboard/status-pages/values.ts";

/** The form of a status page. */
export interface PageForm {
  /** The page as it is stored; null if it is a new one. */
  readonly page: ShownPage | null;
  readonly typed: TypedPage;
  /** The logo of the stored page as a data URI; null if it has none. */
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

/** Renders the form of a page. */
export function renderPageForm(form: PageForm): Html {
  const { page, typed, logo, find, problems, monitors, formToken } = form;
  const path = page === null ? "/app/status-pages/new" : `/app/status-pages/${page.id}`;
  const others = Array.from(problems).filter(([name]) => !isPlaced(name));
  // Enter in a field takes the first button of the form: it must not be one that takes a monitor off the page.
  return html`
    ${renderHead(form)}
    ${others.length > 0 && renderNote("bad", others.map(([, message]) => message).join(" "))}
    ${problems.size > others.length && renderNote("bad", "The page was not saved. The reasons are beside the fields.")}
    <form class="stack" method="post" action="${path}" enctype="multipart/form-data"><button class="hidden" name="do" value="enter" tabindex="-1" aria-hidden="true">Save</button>
    ${renderHidden("_csrf", formToken)}
    ${renderFields(statusPage, typed, problems, {
      is_public: html`${renderLogo(typed, logo, problems.get("logo") ?? null)}${renderComponents(typed, monitors, { find, problems })}`,
      show_causes: page === null ? null : renderDomain(page),
    })}
    <div class="row"><button class="primary" name="do" value="save">Save</button>
    <button formaction="${path}/preview" formtarget="preview" formnovalidate data-auto>Preview</button>
    <a href="/app/status-pages">Cancel</a></div></form>
    ${page !== null && html`<form id="check-domain" method="post" action="${path}/domain"><input type="hidden" name="_csrf" value="${formToken}"></form>`}
    <h2 id="preview">Preview of the page</h2><p class="faint">The page as it would be with what you have typed. The button Preview loads it again. Nothing is saved.</p>
    <iframe class="preview" name="preview" title="Preview of the page" sandbox></iframe>`;
}

function renderHead({ page, canManage }: PageForm): Html {
  if (page === null) return html`<div class="head"><h1 dir="auto">Create a page</h1></div>`;
  const path = `/app/status-pages/${page.id}`;
  const url = visibleAt(page);
  return html`
    <div class="head"><h1 dir="auto">${page.title}</h1><div class="row">
    <a class="button" href="${path}/preview">See the saved page</a>
    ${canManage && html`<a class="button" href="${path}/subscribers">Subscribers</a>`}
    <a class="button danger" href="${path}/delete">Delete the page</a></div></div>
    <p><a href="${url}">${url}</a></p>`;
}

/** Renders the state of a page's own domain, with the record that proves it; null if it has none. */
function renderDomain(page: ShownPage): Html | null {
  const { domain_state: state, domain_record: record, domain_note: note } = page;
  if (state === null || record === null) return null;
  const isMissing = state === "verified" && note !== null;
  const tone = isMissing ? "warn" : { pending: "warn", verified: "good", failed: "bad" }[state];
  const hint = isMissing ? note : `${DOMAIN_HINTS[state]} ${note ?? ""}`;
  const canAsk = state !== "verified" || isMissing;
  return html`
    <div class="card"><p><span class="badge ${tone}">${wordsOfDomain(page)}</span> ${hint}</p>
    <div class="field"><label for="record-name">Name of the TXT record</label><input id="record-name" class="mono" readonly value="${record.name}"></div>
    <div class="field"><label for="record-value">Text of the TXT record</label><input id="record-value" class="mono" readonly value="${record.value}"></div>
    <p class="row"><button type="button" data-copy="record-value">Copy the text</button>${canAsk && html`<button form="check-domain">Check again</button>`}</p></div>`;
}

const DOMAIN_HINTS = {
  pending: "Create this TXT record. It is looked for every 10 minutes.",
  verified: "The record was found, and the domain serves the page.",
  failed: "Create this TXT record. It was not found for a day, and is looked for every hour.",
} as const;

/** Returns where a member sees a page: a private one below the service alone, where he is signed in. */
export function visibleAt({ is_public: isPublic, slug, url }: ShownPage): string {
  return isPublic ? url : `/status/${slug}`;
}

/** Returns the state of a page's domain in words; "": it has none. */
export function wordsOfDomain({ domain_state: state, domain_note: note }: ShownPage): string {
  if (state === null) return "";
  if (state === "verified" && note !== null) return "verified, but its record is missing";
  return { pending: "waits for its record", verified: "verified", failed: "its record was not found" }[state];
}

const FIELDS: ReadonlySet<string> = new Set([...askedFields(statusPage).map(({ name }) => name), "logo", "groups"]);

/** Reports whether a problem has a place beside its field. */
function isPlaced(name: string): boolean {
  return FIELDS.has(name) || /^(?:monitors|groups)\.\d/.test(name);
}

/**
 * Renders the field of the logo. `stored`: that of the saved page, as a data URI. One that was chosen goes along with the
 * form: browsers do not keep the choice of a file.
 */
function renderLogo(
  { logo, removesLogo }: Pick<TypedPage, "logo" | "removesLogo">,
  stored: string | null,
  problem: string | null,
): Html {
  const kept = logo !== null && readLogo(logo).ok ? logo : null;
  const shown = kept ?? stored;
  const hint =
    "In place of the title: a PNG, JPEG or WebP image of at most 64 KB. It is shown up to 240 pixels wide and 40 high.";
  const field = { name: "logo", hint, problem };
  return html`
    <div class="field"><label for="f-logo">Logo</label>${renderTexts(field)}
    ${shown !== null && html`<p><img class="logo" src="${shown}" alt="${kept === null ? "The present logo" : "The chosen logo"}"></p>`}
    ${kept !== null && html`<input type="hidden" name="logo_kept" value="${kept}">`}
    <input type="file" id="f-logo" name="logo" accept="image/png,image/jpeg,image/webp"${describedBy(field)}${problem !== null && html` aria-invalid="true"`}>
    ${shown !== null && html`<div class="choice"><input type="checkbox" id="f-remove_logo" name="remove_logo" value="on"${removesLogo && html` checked`}><label for="f-remove_logo">Remove the logo</label></div>`}</div>`;
}
