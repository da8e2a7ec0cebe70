import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { KEYS } from "#control-plane/surfaces/dashboard/strings/people.ts";
import type { KeyEntry } from "#control-plane/accounts/keys/keys.ts";
import { LONGEST_KEY_NAME } from "#control-plane/accounts/keys/new-key.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";

/** What the page shows, with what was typed into its form and what is wrong with it. */
export interface KeysView {
  readonly session: Session;
  readonly keys: readonly KeyEntry[];
  /** What is used and allowed, by label. */
  readonly usage: readonly (readonly [label: string, used: number, limit: number])[];
  /** Scopes that the plan allows. */
  readonly allowed: readonly string[];
  readonly typed?: { readonly name: string; readonly scopes: readonly string[] };
  readonly nameProblem?: string | null;
  readonly scopesProblem?: string | null;
  readonly problem?: string | null;
}

const renderUsage: (data: { readonly rows: readonly (readonly [string, string])[] }) => string = compileTemplate(`
<h1>${KEYS.title}</h1>
<div class="scroll" role="group" tabindex="0" aria-label="${KEYS.usage}"><table><caption class="hidden">${KEYS.usage}</caption><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row[0] %></th><td class="number"><%= row[1] %></td></tr><% } %>
</tbody></table></div>
`);

interface Row {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly created: string;
  readonly used: string;
  readonly label: string;
}

const renderKeys: (data: { readonly rows: readonly Row[] }) => string = compileTemplate(`
<% if (it.rows.length === 0) { %><p>${KEYS.none}</p><% } else { %>
<div class="scroll" role="group" tabindex="0" aria-label="${KEYS.title}"><table class="cards"><thead><tr><th scope="col">${KEYS.name}</th><th scope="col">${KEYS.start}</th><th scope="col">${KEYS.scopes}</th><th scope="col">${KEYS.created}</th><th scope="col">${KEYS.used}</th><th scope="col"><span class="hidden">${KEYS.action}</span></th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.name %></th><td><code><%= row.prefix %></code></td><td data-label="${KEYS.scopes}"><%= row.scopes %></td><td class="date" data-label="${KEYS.created}"><%= row.created %></td><td class="date" data-label="${KEYS.used}"><%= row.used %></td>
<td><a class="button danger" href="/app/keys/<%= row.id %>/revoke" aria-label="<%= row.label %>">${KEYS.revoke}</a></td></tr><% } %>
</tbody></table></div><% } %>
`);

const renderScopes: (data: {
  readonly scopes: readonly { readonly name: string; readonly isChosen: boolean }[];
  readonly problem: string | null;
}) => string = compileTemplate(`
<fieldset class="field"<% if (it.problem !== null) { %> aria-describedby="p-scopes"<% } %>><legend>${KEYS.scopes}</legend><p class="hint">${KEYS.scopesHint}</p>
<% if (it.problem !== null) { %><p class="problem" id="p-scopes"><%= it.problem %></p><% } %>
<% for (const scope of it.scopes) { %><div class="choice"><input type="checkbox" id="s-<%= scope.name %>" name="scopes" value="<%= scope.name %>"<% if (scope.isChosen) { %> checked<% } %>><label for="s-<%= scope.name %>"><%= scope.name %></label></div><% } %>
</fieldset>
`);

/** Renders the keys of the session's account, its usage, and the form for another key. */
export function renderKeysPage(view: KeysView): string {
  const { session, keys, usage, allowed, typed, nameProblem = null, scopesProblem = null, problem = null } = view;
  const form = [
    renderHidden("_csrf", session.formToken),
    renderInput({
      name: "name",
      label: KEYS.nameLabel,
      hint: KEYS.nameHint,
      value: typed?.name ?? "",
      problem: nameProblem,
      maxLength: LONGEST_KEY_NAME,
    }),
    renderScopes({
      scopes: allowed.map((name) => ({ name, isChosen: typed?.scopes.includes(name) === true })),
      problem: scopesProblem,
    }),
  ];
  return [
    renderUsage({ rows: usage.map(([label, used, limit]) => [label, KEYS.of(used, limit)] as const) }),
    ...(problem === null ? [] : [renderNote("bad", problem)]),
    renderKeys({ rows: keys.map((key) => toRow(key, session)) }),
    `<h2>${KEYS.createTitle}</h2>`,
    renderForm("/app/keys", form, KEYS.create),
  ].join("");
}

function toRow({ id, name, prefix, scopes, createdAt, usedAt }: KeyEntry, { timezone }: Session): Row {
  return {
    id,
    name: name ?? KEYS.unnamed,
    prefix: `${prefix}...`,
    scopes: scopes === null ? KEYS.allScopes : scopes.join(", "),
    created: formatLocal(createdAt, timezone),
    used: usedAt === null ? KEYS.unused : formatLocal(usedAt, timezone),
    label: KEYS.revokeOf(name ?? prefix),
  };
}

/** Renders a new key, which is shown once. */
export const renderCreatedKey: (data: { readonly key: string }) => string = compileTemplate(`
<h1>${KEYS.createdTitle}</h1><p>${KEYS.shownOnce}</p>
<div class="field"><label for="secret">${KEYS.key}</label><input id="secret" class="mono" readonly value="<%= it.key %>"></div>
<p class="row"><button type="button" data-copy="secret">${KEYS.copy}</button> <a href="/app/keys">${KEYS.back}</a></p>
`);
